import { describe, expect, it } from "vitest"
import * as Words from "../../app/text/Words.ts"

describe("a title", () => {
  it.each([
    ["Read **June** and `a.md`", "Read June and a.md"],
    ["## Report\n\nof __today__", "Report of today"],
    ["See [the notes](https://notes.example/1), please", "See the notes, please"],
    ["2 ** 3 ** 4 and a__b and **open", "2 ** 3 ** 4 and a__b and **open"],
    ["`".repeat(200), "`".repeat(200)]
  ])("of %j is %j", (text, title) => expect(Words.title(text)).toBe(title))
})
