// Reads forms with node's FormData, and prints each form whose parts it reads differently: form_parsers.mjs FILE
//
// form_parsers.py describes FILE. FormData consists of text, so names, file names and fields are compared as decoded text,
// and files byte by byte. The type of a File is in lower case, and empty if it has other bytes than printable ASCII (W3C
// File API, 4.1). FormData has no type for a field.
import { readFileSync } from "node:fs";

const bytes = (hex) => Buffer.from(hex, "hex");
const text = (hex) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(hex));
const unescaped = (name) => name.replace(/%22/g, '"').replace(/%0D/g, "\r").replace(/%0A/g, "\n");
const typeOf = (hex) => (/^[\x20-\x7e]*$/.test(bytes(hex).toString("latin1")) ? bytes(hex).toString("latin1").toLowerCase() : "");

const expectedOf = (part) =>
  part.filename === undefined
    ? [unescaped(text(part.name)), text(part.value)]
    : [unescaped(text(part.name)), unescaped(text(part.filename)), typeOf(part.type), part.value];

async function foundIn(form) {
  const response = new Response(bytes(form.body), { headers: { "Content-Type": bytes(form.type).toString("latin1") } });
  const found = [];
  for (const [name, value] of await response.formData()) {
    found.push(
      typeof value === "string"
        ? [name, value]
        : [name, value.name, value.type, Buffer.from(await value.arrayBuffer()).toString("hex")],
    );
  }
  return found;
}

let faults = 0;
let parts = 0;
const forms = readFileSync(process.argv[2], "ascii").trim().split("\n").map((line) => JSON.parse(line));
for (const form of forms) {
  const expected = JSON.stringify(form.parts.map(expectedOf));
  const found = await foundIn(form).then(JSON.stringify, (error) => String(error.stack));
  parts += form.parts.length;
  if (found !== expected) {
    faults += 1;
    if (faults <= 20) console.log(`node: ${form.case}: ${found} instead of ${expected}`.slice(0, 1000));
  }
}
console.log(`node: ${forms.length} forms, ${parts} parts, ${faults} came back different`);
process.exit(faults > 0 || forms.length === 0 ? 1 : 0);
