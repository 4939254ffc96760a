import { describe, expect, it } from "vitest"
import * as Words from "../../app/text/Words.ts"

describe("a title", () => {
  it.each([
    ["Read **June** and `a.md`", "Read June and a.md"],
    ["## Report\n\nof **today**", "Report of today"],
    ["See [the notes](https://notes.example/1), please", "See the notes, please"],
    ["fix __init__.py and __main__", "fix __init__.py and __main__"],
    ["Read `my_file.ts` and `a**b**c`", "Read my_file.ts and a**b**c"],
    ["2 ** 3 ** 4 and a__b and **open", "2 ** 3 ** 4 and a__b and **open"],
    ["Why?\n```js\nconst a = `1`\n```\nIt fails", "Why? const a = 1 It fails"],
    ["`".repeat(200), "`".repeat(200)]
  ])("of %j is %j", (text, title) => expect(Words.title(text)).toBe(title))
})

describe("what a tool answered", () => {
  const image = { type: "blob", mime_type: "image/png", content: "iVBORw0KGgo=" }
  it.each([
    [[image], "[image/png]"],
    [[{ type: "text", content: "A chart:" }, image], "A chart:\n[image/png]"],
    [[{ type: "uri", uri: "https://a.example/b" }, image], "[file https://a.example/b]\n[image/png]"],
    [[{ type: "text", text: "A tool's own" }], '[\n  {\n    "type": "text",\n    "text": "A tool\'s own"\n  }\n]'],
    [[{ type: "blob", path: "a.ts" }], '[\n  {\n    "type": "blob",\n    "path": "a.ts"\n  }\n]'],
    [[{ type: "toString" }], '[\n  {\n    "type": "toString"\n  }\n]'],
    ["a text", "a text"],
    [[1], "[\n  1\n]"]
  ])("is %j as a text", (response, words) => expect(Words.ofPart({ type: "tool_call_response", response })).toBe(words))
})
