// Compiles .ksy pages to Python, one request a line: {"pages": {name: page}, "main": name}.
// Answers with a line {"files": {name: source}} or {"error": text}.
"use strict";

const compiler = require("kaitai-struct-compiler");
const lines = require("readline").createInterface({ input: process.stdin });

async function answer(line) {
    const { pages, main } = JSON.parse(line);
    const importer = { importYaml: (name) => Promise.resolve(pages[name]) };
    try {
        // With the positions of all fields.
        return { files: await compiler.compile("python", pages[main], importer, true) };
    } catch (error) {
        return { error: String(error) };
    }
}

let before = Promise.resolve();
lines.on("line", (line) => {
    before = before.then(() => answer(line)).then((found) => console.log(JSON.stringify(found)));
});
