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
    ["`".repeat(200), "`".repeat(200)]
  ])("of %j is %j", (text, title) => expect(Words.title(text)).toBe(title))
})
