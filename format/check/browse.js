// Reads files by the pages as a browser does, whose numbers have 53 bits: all fields, and all instances.
// Standard input is {name: page}, the arguments are NAME FILE NAME FILE ...
"use strict";

const fs = require("fs");
const compiler = require("kaitai-struct-compiler");
const KaitaiStream = require("kaitai-struct/KaitaiStream");

const pages = JSON.parse(fs.readFileSync(0, "utf8"));
const importer = { importYaml: (name) => Promise.resolve(pages[name]) };

// What a generated file exports; it asks for those of the pages that it imports.
function load(files, name, loaded) {
    const ask = (path) => (path.startsWith("./") ? load(files, path.slice(2), loaded) : require(path));
    if (!(name in loaded)) {
        loaded[name] = {};
        new Function("exports", "require", files[`${name}.js`])(loaded[name], ask);
    }
    return loaded[name];
}

// Looks at all fields and instances, as a browser shows them.
function visit(of) {
    if (Array.isArray(of)) {
        of.forEach(visit);
    } else if (of !== null && typeof of === "object" && "_debug" in of) {
        const names = Object.keys(of).concat(Object.getOwnPropertyNames(Object.getPrototypeOf(of)));
        names.filter((name) => !/^(_|constructor$)/.test(name)).forEach((name) => visit(of[name]));
    }
}

async function read(page, path) {
    const files = await compiler.compile("javascript", pages[page], importer, true);
    const name = page.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
    const bytes = fs.readFileSync(path);
    const stream = new KaitaiStream(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const parsed = new (load(files, name, {})[name])(stream);
    parsed._read();
    visit(parsed);
}

async function main() {
    for (let at = 2; at < process.argv.length; at += 2) {
        await read(process.argv[at], process.argv[at + 1]);
    }
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
