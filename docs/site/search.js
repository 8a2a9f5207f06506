// Searches the sections of all pages. `sections` comes from index.js: [page, heading's anchor, title, text].
"use strict";
const input = document.querySelector("nav input"), list = document.querySelector("nav ol");
const root = document.querySelector("nav").dataset.root;

function found(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const ranked = [];
    for (const [page, anchor, title, body] of sections) {
        const heading = title.toLowerCase(), all = heading + " " + body.toLowerCase();
        if (!words.every((word) => all.includes(word))) continue;
        // Sections whose heading has the words come first, then those that use them most often for their length.
        const uses = words.reduce((sum, word) => sum + all.split(word).length - 1, 0);
        const rank = words.filter((word) => heading.includes(word)).length + (100 * uses) / (all.length + 500);
        ranked.push([rank, page, anchor, title, excerpt(body, words)]);
    }
    return ranked.sort((a, b) => b[0] - a[0]).slice(0, 12);
}

function excerpt(body, words) {
    const at = Math.max(0, body.toLowerCase().indexOf(words[0]) - 40);
    return body.slice(at === 0 ? 0 : body.indexOf(" ", at) + 1).slice(0, 110);
}

function show() {
    list.replaceChildren(...found(input.value).map(([, page, anchor, title, text]) => {
        const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
        link.href = root + page + (anchor === "" ? "" : "#" + anchor);
        link.textContent = title;
        small.textContent = text;
        item.append(link, small);
        return item;
    }));
    if (input.value.trim() !== "" && list.childElementCount === 0) list.textContent = "No page has these words.";
}

input.addEventListener("input", show);
// A link may carry the words: index.html?q=retry
input.value = new URLSearchParams(location.search).get("q") ?? "";
show();
