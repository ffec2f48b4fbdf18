// Opens reports in a browser and says what is wrong with how they look: see the script beside this.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const CONTRAST_MIN = 4.5;
const [browserPath, out, ...reports] = process.argv.slice(2);

const ways = [];
for (const width of [360, 1280]) {
  for (const colorScheme of ['light', 'dark']) ways.push({ width, colorScheme, media: 'screen' });
}
// Paper is white, whatever the screen is.
for (const colorScheme of ['light', 'dark']) ways.push({ width: 794, colorScheme, media: 'print' });

// Runs in the page, and gives what is wrong there, in words.
function inspect(contrastMin) {
  const wrong = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    wrong.push(`sideways scroll: ${root.scrollWidth} in ${root.clientWidth} pixels`);
  }
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const [r, g, b] = rgba(colour).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const isOpaque = (colour) => colour !== 'none' && rgba(colour)[3] === 255;
  // What is behind an element, if nothing is drawn upon that.
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (rgba(colour)[3] > 0) return colour;
    }
    return getComputedStyle(root).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches
      && !matchMedia('print').matches ? '#121212' : '#ffffff';
  };
  const meets = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
  let texts = 0;
  let least = Infinity;
  const check = (text, colour, grounds) => {
    texts += 1;
    for (const behind of grounds) {
      const found = contrast(colour, behind);
      least = Math.min(least, found);
      if (found < contrastMin) wrong.push(`contrast ${found.toFixed(2)}: "${text}", ${colour} on ${behind}`);
    }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    const said = node.textContent.trim();
    if (!said || element.closest('svg')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    if (!boxes.length) continue;
    check(said.slice(0, 60), getComputedStyle(element).color, [ground(element)]);
  }
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const name = svg.querySelector('title')?.textContent ?? 'a figure without a title';
    const labels = [];
    const shapes = [];
    for (const element of svg.querySelectorAll('*')) {
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      if (element.tagName === 'rect' && isOpaque(style.fill)) shapes.push([box, style.fill]);
      if (element.tagName !== 'text' || !element.textContent.trim()) continue;
      const text = element.textContent.trim();
      const size = parseFloat(style.fontSize) * frame.width / (svg.viewBox.baseVal.width || frame.width);
      if (size < 9) wrong.push(`small text, ${size.toFixed(1)} pixels: "${text}" in "${name}"`);
      // Around a text with an outline there is nothing but that.
      const isOutlined = style.paintOrder.startsWith('stroke') && isOpaque(style.stroke);
      const under = isOutlined ? [style.stroke]
        : [ground(svg), ...shapes.filter(([shape]) => meets(shape, box)).map(([, fill]) => fill)];
      check(text, style.fill, under);
      const slack = 1;
      if (box.left < frame.left - slack || box.right > frame.right + slack
        || box.top < frame.top - slack || box.bottom > frame.bottom + slack) {
        wrong.push(`outside its figure: "${text}" in "${name}"`);
      }
      // A line of text is less high than its box.
      const line = { left: box.left, right: box.right, top: box.top + box.height / 5, bottom: box.bottom - box.height / 5 };
      for (const [other, before] of labels) {
        if (meets(line, before)) wrong.push(`on each other: "${other}" and "${text}" in "${name}"`);
      }
      labels.push([text, line]);
    }
  }
  return { wrong, texts, least };
}

const browser = await chromium.launch({ executablePath: browserPath || undefined, args: ['--no-sandbox'] });
let failed = 0;
for (const report of reports) {
  const url = pathToFileURL(report).href;
  for (const way of ways) {
    const { width, colorScheme, media } = way;
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    const wrong = [];
    page.on('console', (message) => wrong.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (request.url() !== url) wrong.push(`request: ${request.url()}`);
    });
    await page.emulateMedia({ media, colorScheme });
    await page.goto(url, { waitUntil: 'networkidle' });
    const shot = `${out}/${basename(report, '.html')}-${media === 'print' ? 'print' : width}-${colorScheme}`;
    await page.screenshot({ path: `${shot}.png`, fullPage: true });
    const closed = await page.evaluate(inspect, CONTRAST_MIN);
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
    const open = await page.evaluate(inspect, CONTRAST_MIN);
    wrong.push(...closed.wrong, ...open.wrong.filter((one) => !closed.wrong.includes(one)));
    const least = Math.min(closed.least, open.least).toFixed(2);
    const what = `${basename(report)}, ${width} pixels, ${colorScheme}, ${media}`;
    console.log(`${what}: ${open.texts} texts, least contrast ${least}, ${wrong.length} wrong`);
    for (const one of wrong.slice(0, 20)) console.log(`  ${one}`);
    failed += wrong.length;
    await context.close();
  }
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
