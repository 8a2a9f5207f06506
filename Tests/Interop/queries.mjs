// Reads each query of a file of cases by node's URLSearchParams, inside a URL and alone, and by Response.formData().
// queries.py describes the lines. Lines of "bytes" are skipped: they are not UTF-8, the only charset of these parsers.
import { readFileSync } from "node:fs";

const unhex = (word) => (word === "-" ? "" : Buffer.from(word, "hex").toString("utf8"));
let faults = 0;
let count = 0;

function check(name, query, read, expected) {
  count += 1;
  if (JSON.stringify([...read]) !== JSON.stringify(expected)) {
    faults += 1;
    console.log(`${name} reads ${query} as ${JSON.stringify([...read])}, not ${JSON.stringify(expected)}`);
  }
}

for (const line of readFileSync(process.argv[2], "ascii").split("\n")) {
  const [kind, ...words] = line.split(" ");
  if (kind !== "text") continue;
  const [query, ...texts] = words.map(unhex);
  const expected = [];
  for (let i = 0; i < texts.length; i += 2) expected.push([texts[i], texts[i + 1]]);
  check("URL.searchParams", query, new URL(`http://h/?${query}`).searchParams, expected);
  check("URLSearchParams", query, new URLSearchParams(query), expected);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  check("FormData", query, await new Response(query, { headers }).formData(), expected);
}
console.log(`${count} readings, ${faults} faults`);
process.exitCode = faults > 0 || count === 0 ? 1 : 0;
