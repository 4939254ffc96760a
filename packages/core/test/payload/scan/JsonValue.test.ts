import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as JsonValue from "../../../src/payload/scan/JsonValue.ts"
import { JsonWalk, skip, type Visitor } from "../../../src/payload/scan/JsonWalk.ts"
import { Malformed } from "../../../src/payload/scan/Scan.ts"
import * as Steps from "../../../src/payload/scan/Steps.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The value of a text; undefined if it is not JSON in UTF-8. */
const parsed = (text: Buffer): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(utf8.decode(text)) as unknown }
  } catch {
    return undefined
  }
}

type Path = ReadonlyArray<string | number>

/** Every path into a parsed value, with the value at it. */
const paths = function* (value: unknown, path: Path = []): Generator<[path: Path, value: unknown]> {
  yield [path, value]
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* paths(inner, [...path, index])
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) yield* paths((value as Record<string, unknown>)[key], [...path, key])
  }
}

const at = (value: any, path: Path): unknown => path.reduce((inner, step) => inner[step], value)

/** What a field that is needed is compared by: an object or array by its type. */
const shown = (value: unknown): unknown => (typeof value === "object" && value !== null ? Array.isArray(value) : value)

const inSteps = (text: Buffer, paths: ReadonlyArray<Path>) =>
  Steps.run(JsonValue.parseFields(text, JsonValue.fieldsAt(paths)))

/** Accepts nothing that JSON.parse refuses, and the other way round. */
const checkGrammar = (text: Buffer): boolean => {
  const whole = parsed(text)
  const fields = inSteps(text, [])
  expect("value" in fields, JSON.stringify(text.toString())).toBe(whole !== undefined)
  expect("value" in JsonValue.parse(text)).toBe(whole !== undefined)
  if ("value" in fields) expect(shown(fields.value)).toEqual(shown(whole!.value))
  else if (fields.error === "syntax") {
    expect(fields.at).toBeLessThanOrEqual(text.length)
    expect(JsonValue.parse(text)).toEqual(fields)
  }
  return whole !== undefined
}

/** Reads `bytes` in each step, of everything or nothing of the text. */
const walked = (text: Buffer, bytes: number, isEntered: boolean) => {
  const events: Array<string> = []
  const visitor: Visitor = {
    begin: (start) => {
      events.push(`begin ${start}`)
      return isEntered && (text[start] === 0x7b || text[start] === 0x5b) ? start + 1 : skip
    },
    end: (end) => events.push(`end ${end}`)
  }
  const walk = new JsonWalk(text, 0, visitor, true)
  let steps = 1
  let before = walk.at
  let longest = 0
  while (!walk.step(bytes)) {
    longest = Math.max(longest, walk.at - before)
    before = walk.at
    steps++
  }
  return { events, steps, longest }
}

describe("JsonValue", () => {
  it("finds the same fields as JSON.parse, whichever are needed", () => {
    fc.assert(
      fc.property(RandomJson.jsonText, fc.infiniteStream(fc.boolean()), (json, choice) => {
        const text = Buffer.from(json)
        const { value } = parsed(text)!
        const needed = Array.from(paths(value)).filter(() => choice.next().value)
        const fields = inSteps(
          text,
          needed.map(([path]) => path)
        )
        if (!("value" in fields)) throw new Error("Refused")
        for (const [path, value] of needed) {
          const found = at(fields.value, path)
          if (path.length > 0 || shown(value) !== value) expect(shown(found)).toEqual(shown(value))
          if (typeof value === "number") expect(Object.is(found, value)).toBe(true)
        }
      }),
      { numRuns: RandomJson.runs(1_000) }
    )
  })

  it("accepts exactly what JSON.parse accepts, of mutated JSON", () => {
    const token = fc.oneof(
      fc
        .constantFrom(
          ...'{}[],:"\\01-. ex+E\n\t\u0000\u001f\u007fé',
          ...["tru", "true", "nul", "null", "falsey", "-0", "01", "1.", ".5", "1e", "1e+", "1e400", "-", "--1", "NaN"],
          ...[
            '"a":',
            "[]",
            '""',
            ",,",
            "\\u",
            "\\u12",
            "\\ud800",
            "\\x",
            '\\"',
            "//",
            "\ufeff",
            "\u2028",
            "\v",
            "\u00a0"
          ]
        )
        .map((text) => Buffer.from(text)),
      fc
        .constantFrom([0xff], [0xc3], [0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0xc0, 0x80])
        .map((bytes) => Buffer.from(bytes)),
      fc.constant(Buffer.of())
    )
    const mutation = fc.record({ at: fc.nat(60), removed: fc.constantFrom(0, 0, 1, 1, 2, 9), token })
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(RandomJson.jsonText, fc.array(mutation, { maxLength: 2 }), (json, mutations) => {
        const text = mutations.reduce((text, { at, removed, token }) => {
          const place = at % (text.length + 1)
          return Buffer.concat([text.subarray(0, place), token, text.subarray(place + removed)])
        }, Buffer.from(json))
        if (checkGrammar(text)) accepted++
        else refused++
      }),
      { numRuns: RandomJson.runs(5_000) }
    )
    expect(accepted).toBeGreaterThan(RandomJson.runs(500))
    expect(refused).toBeGreaterThan(RandomJson.runs(500))
  })

  it("accepts exactly what JSON.parse accepts, of any tokens", () => {
    const token = fc.constantFrom(
      ...['{"a":', "}", "[", "]", ",", ":", '"', "0", "-1.5e-3", "true", "null", " ", "\\", "\\u00e9", "1", "."]
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        checkGrammar(Buffer.from(tokens.join("")))
      }),
      { numRuns: RandomJson.runs(5_000) }
    )
  })

  it.each([
    ["", 0],
    [" ", 1],
    ["[1,]", 3],
    ["[1 2]", 3],
    ['{"a" 1}', 5],
    ['{"a":1,}', 7],
    ["{a:1}", 1],
    ["[nul]", 4],
    ["[nu", 3],
    ["[-]", 2],
    ["[01]", 2],
    ["[1.]", 3],
    ['["\\x"]', 2],
    ['["\\u00g0"]', 2],
    ['["é\n"]', 4],
    ['["', 2],
    ['["\\', 2],
    ["[]]", 2],
    ["[}", 1],
    ["1 x", 2],
    ["\ufeff1", 0],
    ["'a'", 0]
  ])("says where the error of %j is", (text, at) => {
    const error = { error: "syntax", at }
    expect([JsonValue.parse(Buffer.from(text)), inSteps(Buffer.from(text), [])]).toEqual([error, error])
  })

  it("finds an outline: all that is within a field, but for long strings", () => {
    const outline = (text: string) =>
      Steps.run(JsonValue.parseFields(Buffer.from(text), JsonValue.fieldsAt([["a"]], [["o"]])))
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(outline(`{"a":1,"o":${text},"b":${text}}`)).toEqual({ value: { a: 1, o: JSON.parse(text) } })
      })
    )
    const string = (bytes: number) => JSON.stringify("x".repeat(bytes - 2))
    const longest = string(JsonValue.maxOutlineString)
    const tooLong = string(JsonValue.maxOutlineString + 1)
    expect(outline(`{"o":[{"s":${longest},"t":1,"t":${tooLong}},${tooLong},2]}`)).toEqual({
      value: { o: [{ s: JSON.parse(longest) as unknown, t: undefined }, undefined, 2] }
    })
  })

  it("bounds the values of an outline", () => {
    const { maxOutlineValues } = JsonValue
    const text = Buffer.from(`{"o":[${"0,".repeat(maxOutlineValues)}0],"a":1}`)
    const { value } = Steps.run(JsonValue.parseFields(text, JsonValue.fieldsAt([["a"]], [["o"]]))) as { value: any }
    expect([value.o.length, value.a]).toEqual([maxOutlineValues, 1])
    const nested = Buffer.from(`{"o":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)
    let depth = 0
    const result = Steps.run(JsonValue.parseFields(nested, JsonValue.fieldsAt([], [["o"]]))) as { value: any }
    for (let inner = result.value.o; inner !== undefined; inner = inner[0]) depth++
    expect(depth).toBe(maxOutlineValues + 1)
  })

  it("takes the last of equal keys, and escaped ones", () => {
    const text = Buffer.from(`{"a":{"b":1},"\\u0061":{"b":[2],"c":3},"b":1,"d":[1,{"e":"\\ud800"},2]}`)
    expect(
      inSteps(text, [
        ["a", "b"],
        ["d", 1, "e"],
        ["x", "y"]
      ])
    ).toEqual({
      value: { a: { b: [] }, d: [undefined, { e: "\ud800" }] }
    })
  })

  it("reads long texts in steps, and others at once, with the same fields", () => {
    const of = (bytes: number) => Buffer.from(`{"a":${" ".repeat(bytes - 6)}}`.replace(/ }$/, "7}"))
    for (const [bytes, steps] of [
      [Steps.longFromBytes - 1, 1],
      [Steps.longFromBytes, Steps.longFromBytes / Steps.stepBytes]
    ] as const) {
      const text = of(bytes)
      expect(text.length).toBe(bytes)
      const parsing = JsonValue.parseInSteps(text, JsonValue.fieldsAt([["a"]]))
      let taken = 1
      let next = parsing.next()
      for (; next.done !== true; next = parsing.next()) taken++
      expect(next.value).toEqual({ value: { a: 7 } })
      expect(taken).toBe(steps)
    }
  })
})

/** Longer than any token that is read as a whole: an escape or a literal. */
const maxTokenBytes = 6

describe("JsonWalk", () => {
  it("visits the same whatever the size of its steps", () => {
    fc.assert(
      fc.property(RandomJson.jsonText, fc.integer({ min: 1, max: 9 }), fc.boolean(), (json, bytes, isEntered) => {
        const text = Buffer.from(json)
        const { events, longest } = walked(text, bytes, isEntered)
        expect(events).toEqual(walked(text, text.length, isEntered).events)
        expect(longest).toBeLessThan(bytes + maxTokenBytes)
      }),
      { numRuns: RandomJson.runs(1_000) }
    )
  })

  it.each([
    ["arrays", (n: number) => `${"[".repeat(n / 2)}${"]".repeat(n / 2)}`],
    ["objects", (n: number) => `${'{"":'.repeat(n / 5)}0${"}".repeat(n / 5)}`],
    ["empty arrays", (n: number) => `[${"[],".repeat(n / 3)}[]]`],
    ["numbers", (n: number) => `[${"0,".repeat(n / 2)}0]`],
    ["members", (n: number) => `{${'"":0,'.repeat(n / 5)}"":0}`],
    ["a string", (n: number) => `"${"x".repeat(n)}"`],
    ["escapes", (n: number) => `"${'\\"'.repeat(n / 2)}"`],
    ["Unicode escapes", (n: number) => `"${"\\u0041".repeat(n / 6)}"`],
    ["a number", (n: number) => `[${"1".repeat(n)}]`],
    ["white space", (n: number) => `[${" ".repeat(n)}]`]
  ])("reads a bounded part of %s in each step", (_name, make) => {
    const bytes = 1_000
    const text = Buffer.from(make(100 * bytes))
    for (const isEntered of [true, false]) {
      const { longest, steps } = walked(text, bytes, isEntered)
      expect(longest).toBeLessThan(bytes + maxTokenBytes)
      expect(steps).toBeGreaterThan(90)
      expect(() => walked(text.subarray(0, -1), bytes, isEntered)).toThrow(Malformed)
    }
  })
})
