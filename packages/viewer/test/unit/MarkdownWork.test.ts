import { Lexer } from "marked"
import { describe, expect, it } from "vitest"
import { maxWork, workOf } from "../../app/text/MarkdownWork.ts"

/** Shapes whose reading takes time with the square of their length, or that hold the most structure for their length. */
const shapes: Readonly<Record<string, (length: number) => string>> = {
  "stars and letters": (length) => "*a".repeat(length / 2),
  stars: (length) => "*".repeat(length),
  "stars within words": (length) => "a**b".repeat(length / 4),
  underscores: (length) => "_ a_".repeat(length / 4),
  brackets: (length) => "[".repeat(length),
  "links that do not end": (length) => "[a](".repeat(length / 4),
  images: (length) => "![".repeat(length / 2),
  backticks: (length) => "`a ".repeat(length / 3),
  tildes: (length) => "~a".repeat(length / 2),
  quotes: (length) => "> ".repeat(length / 2),
  "nested lists": (length) => {
    let text = ""
    for (let depth = 0; text.length < length; depth++) text += `${" ".repeat(2 * depth)}- a\n`
    return text
  },
  "short items": (length) => "- a\n".repeat(length / 4),
  "items with blank lines": (length) => "- a\n\n".repeat(length / 5),
  "quoted lines": (length) => "> a\n".repeat(length / 4),
  "a wide table": (length) => `${"|a".repeat(length / 4)}\n${"|-".repeat(length / 4)}`,
  tags: (length) => "<a ".repeat(length / 3)
}

/** How often a regular expression is run to read a text: reading does little else. */
const runsOf = (text: string): number => {
  const exec = RegExp.prototype.exec
  let runs = 0
  RegExp.prototype.exec = function (searched) {
    runs++
    return exec.call(this, searched)
  }
  try {
    new Lexer({ gfm: true, breaks: true }).lex(text)
  } finally {
    RegExp.prototype.exec = exec
  }
  return runs
}

const longest = (make: (length: number) => string, most: number): string => {
  let [low, high] = [1, 200_000]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (workOf(make(middle), most) <= most) low = middle
    else high = middle - 1
  }
  return make(low)
}

describe("the work of reading Markdown", () => {
  it.each(Object.entries(shapes))("is bounded: %s", (_, make) => {
    expect(workOf(make(36_000), maxWork.asked)).toBeGreaterThan(maxWork.atOnce)
    expect(runsOf(longest(make, maxWork.atOnce))).toBeLessThan(60_000)
    expect(runsOf(longest(make, maxWork.asked))).toBeLessThan(240_000)
  })

  it("is little for what people and models write", () => {
    const section = `## Result\n\nThis is **what** was found in \`file.ts\`, see [the notes](https://notes.example/1):\n\n- one\n  - two\n\n\`\`\`ts\nconst a = [1, 2]\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`
    expect(workOf(section.repeat(12_000 / section.length), maxWork.atOnce)).toBeLessThan(maxWork.atOnce)
    expect(workOf("A sentence without any mark. ".repeat(414), maxWork.atOnce)).toBeLessThan(maxWork.atOnce)
  })
})
