import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Body from "../../src/masking/Body.ts"
import * as Patterns from "../../src/masking/Patterns.ts"
import * as Places from "../../src/masking/Places.ts"
import * as Steps from "../../src/masking/Steps.ts"

const masked = (list: string, text: string): string => {
  const without = Body.withoutMatches(new TextEncoder().encode(text), Patterns.parse(list), "texts")
  return new TextDecoder().decode(Steps.run(without).text)
}

/** A text between quotes, as a value. */
const inText = (list: string, text: string): string => JSON.parse(masked(list, JSON.stringify(text)))

/** Each character that belongs to some match, by trying all parts of the text. */
const maskedPlainly = (pattern: string, text: string): string => {
  const covered = new Set<number>()
  for (let from = 0; from < text.length; from++) {
    for (let to = from + 1; to <= text.length; to++) {
      if (!new RegExp(`^[^]{${from}}(?:${pattern})[^]{${text.length - to}}$`).test(text)) continue
      for (let at = from; at < to; at++) covered.add(at)
    }
  }
  return Array.from(text, (character, at) => (covered.has(at) ? "\0" : character))
    .join("")
    .replaceAll(/\0+/g, "[redacted]")
}

describe("a list of patterns", () => {
  it.each([
    ["sk-[A-Za-z0-9]{8,}", "a sk-abcdefgh1 b sk-abc sk-12345678", "a [redacted] b sk-abc [redacted]"],
    ["\\b\\d{3}-\\d{2}-\\d{4}\\b", "123-45-6789, 1123-45-6789", "[redacted], 1123-45-6789"],
    ["[\\w.+-]+@[\\w-]+\\.[\\w.]+", "me@x.org, you@y.de!", "[redacted], [redacted]!"],
    ["(?i)passWORD\\s*[:=]\\s*\\S+", "PassWord: hünter2 ok", "[redacted] ok"],
    ["^all$", "all", "[redacted]"],
    ["^all$", "all of it", "all of it"],
    ["# a comment\r\n\r\n  one  \r\n\ttwo", "one two # a comment", "[redacted] [redacted] # a comment"],
    ["\ufeff\\#1", "#1", "[redacted]"],
    ["é+\n日本", "aéé日本b", "a[redacted]b"],
    ["a😀?b", "ab a😀b", "ab [redacted]"],
    [".", "\n😀", "\n[redacted]"],
    ["one|two", "onetwo", "[redacted]"],
    ["a{2}b{0,1}c{1,}", "aabcc aac ac", "[redacted] [redacted] ac"],
    ["(?<name>a)(?:b)", "ab", "[redacted]"],
    ["[^a-c\\d]x[-.]", "ax- zx- 1x. zx.", "ax- [redacted] 1x. [redacted]"]
  ])("%j masks in %j what every match has", (list, text, left) => {
    expect(inText(list, text)).toBe(left)
  })

  it.each([
    [
      '{"a":"\\u0073ecret \\u0041","b":["x\\nsecret\\/\\"secret"]}',
      '{"a":"[redacted] \\u0041","b":["x\\n[redacted]\\/\\"[redacted]"]}'
    ],
    ['{ "secret" : 1.0, "n":12 ,"n":[ ]}', '{ "[redacted]" : 1.0, "n":12 ,"n":[ ]}'],
    ['{"a":"é secret 😀secret","b":"sec","c":"ret"}', '{"a":"é [redacted] 😀[redacted]","b":"sec","c":"ret"}'],
    ['["secret', '["secret']
  ])("is looked for in what texts stand for, and leaves the rest of %s", (text, left) => {
    expect(masked("secret", text)).toBe(left)
  })

  it.each([
    ["a*", "line 1: it matches the empty text, which is everywhere"],
    ["ok\n\n(a|b?)", "line 3: it matches the empty text, which is everywhere"],
    ["\\b", "line 1: it matches the empty text, which is everywhere"],
    ["(a", "line 1: a parenthesis is not closed"],
    ["a)", "line 1: a parenthesis closes what none has opened"],
    ["# c\n[a", "line 2: a bracket is not closed"],
    ["*a", "line 1: nothing precedes a repetition"],
    ["a**", "line 1: a repetition follows another one; put the first into parentheses"],
    ["a+?", "line 1: a repetition cannot be lazy: all that can match is masked; leave out the ? after it"],
    ["(?=a)b", "line 1: a pattern cannot look around"],
    ["(a)\\1", "line 1: a pattern cannot refer to one of its groups"],
    ["\\p{L}", "line 1: \\p is not known"],
    ["[b-a]", "line 1: a range in brackets ends before it begins"],
    ["[\\d-a]", "line 1: a range in brackets is not between two characters"],
    ["[😀]", "line 1: brackets cannot hold characters beyond U+FFFF"],
    ["a{3,2}", "line 1: {3,2} ends before it begins"],
    ["a{1001}", "line 1: {1001} counts beyond 1000"],
    ["(a{1000}){21}", "line 1: its repetitions, written out, are too long"],
    ["(((){1000}){1000}){1000}", "line 1: its repetitions, written out, are too long"],
    [`${"(".repeat(101)}a`, "line 1: more than 100 groups are within each other"],
    ["(?s)a", "line 1: a group begins with ?, which only (?: and, at the beginning, (?i) may"],
    ["\\x4", "line 1: \\x needs 2 hexadecimal digits"],
    ["a\\", "line 1: nothing follows the backslash at the end"],
    ["# nothing\n", "it has no patterns"],
    ["a{1000}\n".repeat(30), "together, its repetitions, written out, are too long"],
    ["a".repeat(Patterns.maxListCharacters + 1), `it has more than ${Patterns.maxListCharacters} characters`]
  ])("is refused with its line: %j", (list, message) => {
    expect(() => Patterns.parse(list)).toThrow(new Patterns.PatternError(message))
  })

  it("masks exactly the characters that some match has, whatever the pattern and the text", () => {
    const atom = fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\w", "\\b", "^", "$", "-")
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie("pattern"), tie("pattern")).map((parts) => parts.join("")),
        fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
        fc
          .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}"))
          .map(([part, count]) => `(?:${part})${count}`)
      )
    }))
    const text = fc.array(fc.constantFrom("a", "b", "-", " ", "\n"), { maxLength: 9 }).map((parts) => parts.join(""))
    let tried = 0
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        let left: string
        try {
          left = inText(pattern, text)
        } catch (error) {
          return error instanceof Patterns.PatternError
        }
        tried++
        expect(left).toBe(maskedPlainly(pattern, text))
        return true
      }),
      { numRuns: 300, seed: 1 }
    )
    expect(tried).toBeGreaterThan(60)
  })

  it("is looked for in time that grows with the text, and a text that takes too long is masked as a whole", () => {
    const long = "a".repeat(50_000)
    const isWhole = (list: string, text: string) => inText(list, text) === "[redacted]"
    expect(inText("(a+)+$\n(a|aa)+b", `${long}!`) === `${long}!`).toBe(true)
    expect(isWhole("(a|b)*a(a|b){60}c", `${long}c`)).toBe(true)
    // Each character leads to a place where no text has led before.
    let state = 1
    const odd = Array.from({ length: 20_000 }, () => ((state = (state * 48_271) % 0x7fffffff) & 1024 ? "a" : "b")).join(
      ""
    )
    expect(isWhole("[ab]*a[ab]{300}c", odd)).toBe(true)
    expect(inText("b{30}c", odd) === odd).toBe(true)
  })

  it("is looked for in steps", () => {
    const text = new TextEncoder().encode(JSON.stringify(`${"words and ".repeat(40_000)}secret`))
    const work = Body.withoutMatches(text, Patterns.parse("secret"), "texts")
    let steps = 0
    for (let step = work.next(); step.done !== true; step = work.next()) steps++
    expect(steps).toBeGreaterThan(20)
  })
})

describe("the body of an event", () => {
  it("is masked in what may be any text, and not in what names other things", () => {
    const id = "0123456789-abcdef"
    const event = (word: string) => ({
      event_name: "llm",
      fingerprint_id: id,
      ...{ session: `s ${word}`, agent: word, agent_version: word, person: word, model: word, trace_id: id },
      ...{ metadata: { [word]: [word] }, recorded: { redacted: 1, other: word }, unknown: id },
      properties: {
        api: id,
        inputs: { [word]: word, messages: [{ content: word }, word, 1] },
        output: { a: { b: word } }
      }
    })
    const patterns = Patterns.parse("[0-9a-f-]{17}")
    const text = JSON.stringify(event(id))
    const { count, text: left } = Steps.run(
      Body.withoutMatches(new TextEncoder().encode(text), patterns, Places.ofEvent)
    )
    expect(JSON.parse(new TextDecoder().decode(left))).toEqual(event("[redacted]"))
    expect(count).toBe(13)
  })
})
