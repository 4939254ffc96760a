import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as EventJson from "../../src/record/EventJson.ts"
import { SessionIndex } from "../../src/payload/SessionIndex.ts"
import * as JsonValue from "../../src/payload/scan/JsonValue.ts"
import type { KnownPrefixes, ScannedValue } from "../../src/payload/scan/PieceScanner.ts"
import * as Steps from "../../src/payload/scan/Steps.ts"
import { growing } from "../payload/Conversations.ts"
import { eventText, RecordedSession } from "../payload/RecordedSession.ts"

const calls = growing(9, 60)

/** What is known of three sessions, of which two began alike. */
const knownSessions: ReadonlyMap<string, KnownPrefixes> = new Map(
  [calls, growing(7, 60), growing(9, 61, ", ")].map((calls, number) => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    for (const texts of calls) session.record(texts, sessionIndex)
    return [["s", "t", "\u00e9"][number]!, { session: number + 1, generation: 0, list: sessionIndex.knownPrefixes }]
  })
)

const unknown: KnownPrefixes = { session: 0, generation: 0, list: [] }

const open = (text: Buffer) => EventJson.open(text, (session) => knownSessions.get(session) ?? unknown)

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The value of a text; undefined if it is not JSON in UTF-8. */
const parsed = (text: Buffer): { readonly value: any } | undefined => {
  try {
    return { value: JSON.parse(utf8.decode(text)) }
  } catch {
    return undefined
  }
}

const isObject = (value: any) => typeof value === "object" && value !== null && !Array.isArray(value)

const hasPayload = (value: any): boolean =>
  isObject(value) &&
  isObject(value.properties) &&
  Object.hasOwn(value.properties, "inputs") &&
  Object.hasOwn(value.properties, "output")

/** How many elements of the event were not parsed. */
const knownElements = (text: Buffer) =>
  open(text)!.payload.inputs.candidates.filter(({ kind }) => kind === "known-prefix").length

/** Whatever the text: it is refused exactly if the whole of it would be, and its payload is the one that JSON.parse finds. */
const check = (text: Buffer): void => {
  checkSteps(text)
  const whole = parsed(text)
  const event = open(text)
  if (event === undefined) {
    if (whole !== undefined && hasPayload(whole.value)) throw new Error("An event was not opened")
    return
  }
  const reduced = parsed(event.reduced)
  if ((whole === undefined) !== (reduced === undefined)) {
    throw new Error(whole === undefined ? "Taken, and is not JSON" : "Refused, and is JSON")
  }
  if (whole === undefined || !hasPayload(whole.value)) return
  const { inputs, output } = event.payload
  expect(parsed(text.subarray(inputs.start, inputs.end))).toEqual({ value: whole.value.properties.inputs })
  expect(parsed(text.subarray(output.start, output.end))).toEqual({ value: whole.value.properties.output })
  // Beside the inputs nothing is left out.
  const { inputs: _, ...properties } = reduced!.value.properties
  const { inputs: __, ...expected } = whole.value.properties
  expect(properties).toEqual(expected)
  expect({ ...reduced!.value, properties: 0 }).toEqual({ ...whole.value, properties: 0 })
}

const fieldPaths: ReadonlyArray<ReadonlyArray<string | number>> = [
  ["session"],
  ["other"],
  ["properties", "api"],
  ["properties", "inputs", "model"],
  ["properties", "inputs", "model", "modelId"],
  ["properties", "output", "choices", 0, "finish_reason"],
  ["properties", "output", "usage", "prompt_tokens"]
]
const fields = JsonValue.fieldsAt(fieldPaths)

/** An object or array by its type: of these, the fields that are needed are compared. */
const shown = (value: any) => (typeof value === "object" && value !== null ? Array.isArray(value) : value)

const at = (value: any, path: ReadonlyArray<string | number>): unknown =>
  path.reduce((inner, step) => (shown(inner) !== inner && Object.hasOwn(inner, step) ? inner[step] : undefined), value)

const summary = ({ candidates, conversations, end, start }: ScannedValue) => ({
  start,
  end,
  candidates: candidates.map((each) => ({
    kind: each.kind,
    start: each.start,
    end: each.end,
    inner: "inner" in each ? each.inner : undefined
  })),
  conversations: conversations.map(({ elements, known, start }) => [start, known?.start, known?.end, elements])
})

/** Texts are parsed at once or in steps by their length. Both give the same. */
const checkSteps = (text: Buffer): void => {
  const knownPrefixesOf = (session: string) => knownSessions.get(session) ?? unknown
  const short = Steps.run(EventJson.parse(text, knownPrefixesOf, fields))
  const long = Steps.run(EventJson.parseLong(text, knownPrefixesOf, fields))
  expect(long === undefined).toBe(short === undefined)
  if (long === undefined || short === undefined) return
  for (const half of ["inputs", "output"] as const) {
    expect(summary(long.payload[half])).toEqual(summary(short.payload[half]))
  }
  expect(long.payload.knownPrefixes).toBe(short.payload.knownPrefixes)
  expect(long.isTooDeep).toBe(short.isTooDeep)
  expect(long.ignored).toEqual(short.ignored)
  for (const path of fieldPaths) expect(shown(at(long.value, path))).toEqual(shown(at(short.value, path)))
}

const event = Buffer.from(eventText(calls.at(-1)!))
const mark = open(event)!.payload.inputs.candidates[0]!

/** What is put in the place of some bytes. */
const token = fc.oneof(
  fc
    .constantFrom(
      ...'{}[],:"\\01-. ex\n\u0000\u00e9',
      ...['"a":', "[]", '""', "null", ",0", "0,", "],[", '],"messages":[', "\\u", '\\"', "//", "\ufeff", "\u2028"]
    )
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom([0xff], [0xc3], [0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0xc0, 0x80])
    .map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.of())
)

const near = (at: number) => fc.integer({ min: -3, max: 3 }).map((by) => at + by)

const place = fc.oneof(
  { arbitrary: near(mark.start), weight: 2 },
  { arbitrary: near(mark.end), weight: 3 },
  fc.integer({ min: mark.start, max: mark.end }),
  { arbitrary: fc.integer({ min: mark.end, max: event.length }), weight: 2 },
  fc.nat(event.length)
)

const mutation = fc.record({ at: place, removed: fc.constantFrom(0, 0, 1, 1, 2, 60, 1000), token })

describe("EventJson", () => {
  it("opens an event of which a part is known", () => {
    expect(mark.kind).toBe("known-prefix")
    const { reduced } = open(event)!
    expect(reduced.length).toBeLessThan(event.length / 2)
    expect(JSON.parse(reduced.toString()).properties.inputs.messages[0]).toBe(0)
    check(event)
  })

  it("refuses a mutated event exactly where JSON.parse does", () => {
    let taken = 0
    let refused = 0
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
        const text = mutations.reduce(
          (text, { at, removed, token }) => Buffer.concat([text.subarray(0, at), token, text.subarray(at + removed)]),
          event
        )
        check(text)
        if (parsed(text) === undefined) refused++
        else taken++
      }),
      { numRuns: RandomJson.runs(4_000) }
    )
    expect(taken).toBeGreaterThan(RandomJson.runs(200))
    expect(refused).toBeGreaterThan(RandomJson.runs(200))
  })

  it("refuses every truncated event", () => {
    for (let length = 0; length < event.length; length++) {
      const text = event.subarray(0, length)
      check(text)
      expect(parsed(open(text)?.reduced ?? Buffer.of())).toBeUndefined()
    }
  })

  it("opens every event with inputs and output, in any order and with any duplicates", () => {
    const key = (name: string) =>
      fc.constantFrom(`"${name}"`, `"${name}"`, `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`)
    const member = (name: string, value: fc.Arbitrary<string>) =>
      fc.tuple(key(name), value).map((pair) => pair.join(" : "))
    const object = (members: fc.Arbitrary<string>) =>
      fc.array(members, { maxLength: 5 }).map((all) => `{ ${all.join(" ,")}}`)
    const inputs = fc.oneof(fc.constantFrom(...calls.slice(-3).map(({ inputs }) => inputs)), RandomJson.jsonText)
    const properties = object(
      fc.oneof(
        { arbitrary: member("inputs", inputs), weight: 3 },
        { arbitrary: member("output", RandomJson.jsonText), weight: 3 },
        member("session", inputs),
        member("api", RandomJson.jsonText),
        fc.constantFrom(
          '"inputs":{"model":{"modelId":"m","modelId":"n"}}',
          '"inputs":{"model":[1],"model":"\\ud800"}',
          '"output":{"choices":[{"finish_reason":"a"},2],"usage":{"prompt_tokens":1e400}}',
          '"output":{"choices":{"0":{"finish_reason":-0}},"usage":[]}'
        )
      )
    )
    const session = fc.constantFrom(
      '"s"',
      '"t"',
      '"\\u0073"',
      '"\u00e9"',
      '"\\u00e9"',
      '"unknown"',
      "1",
      "null",
      '["s"]'
    )
    const events = object(
      fc.oneof(
        { arbitrary: member("properties", properties), weight: 4 },
        { arbitrary: member("session", session), weight: 3 },
        member("properties", RandomJson.jsonText),
        member("inputs", inputs),
        RandomJson.jsonText.map((value) => `"other":${value}`)
      )
    )
    let opened = 0
    let known = 0
    fc.assert(
      fc.property(events, fc.constantFrom("", " ", "\n\t", "x", ",", "{}"), (text, rest) => {
        const bytes = Buffer.from(text + rest)
        check(bytes)
        const found = open(bytes)
        if (found !== undefined) opened++
        if (found?.payload.inputs.candidates.some(({ kind }) => kind === "known-prefix")) known++
      }),
      { numRuns: RandomJson.runs(2_000) }
    )
    expect(opened).toBeGreaterThan(RandomJson.runs(100))
    expect(known).toBeGreaterThan(RandomJson.runs(30))
  })

  it("looks up the session that counts: the last, unescaped, wherever it stands", () => {
    const { inputs, output } = calls.at(-1)!
    const properties = `"properties":{"inputs":${inputs},"output":${output}}`
    for (const [text, elements, session] of [
      [`{"session":"s",${properties}}`, 1, 1],
      [`{${properties},"session":"s"}`, 1, 1],
      [`{"\\u0073ession":"\\u0073",${properties}}`, 1, 1],
      [`{"session":"other","session":"s",${properties}}`, 1, 1],
      [`{"session":"other",${properties},"session":"s"}`, 1, 1],
      [`{"session":"s",${properties},"session":"other"}`, 0, 0],
      [`{"session":"s","session":"other",${properties}}`, 0, 0],
      [`{"session":"\\u0000s",${properties}}`, 0, 0],
      // Another conversation is known of it.
      [`{"session":"\u00e9",${properties}}`, 0, 3],
      [`{${properties}}`, 0, 0],
      [`{"a":{"session":"s"},${properties}}`, 0, 0]
    ] as const) {
      const bytes = Buffer.from(text)
      check(bytes)
      expect(knownElements(bytes), text.slice(0, 40)).toBe(elements)
      // The writer of the pack is told which session's beginnings were known.
      expect(open(bytes)!.payload.knownPrefixes.session).toBe(session)
    }
  })

  it("takes the last of duplicate inputs, outputs and properties", () => {
    const { inputs, output } = calls.at(-1)!
    for (const text of [
      `{"session":"s","properties":{"inputs":1,"inputs":${inputs},"output":2,"output":${output}}}`,
      `{"session":"s","properties":{"inputs":1,"output":2},"properties":{"output":${output},"inputs":${inputs}}}`,
      `{"session":"s","properties":{"inputs":${inputs},"output":2,"\\u0069nputs":${inputs},"out\\u0070ut":${output}}}`
    ]) {
      const bytes = Buffer.from(text)
      const { payload } = open(bytes)!
      check(bytes)
      expect(bytes.toString("utf8", payload.inputs.start, payload.inputs.end)).toBe(inputs)
      expect(bytes.toString("utf8", payload.output.start, payload.output.end)).toBe(output)
      expect(knownElements(bytes)).toBe(1)
    }
  })

  it.each([
    "",
    " ",
    "[]",
    "1",
    "{}",
    '"session"',
    '{"properties":1}',
    '{"properties":{}}',
    '{"properties":{"inputs":1}}',
    '{"properties":{"output":1}}',
    '{"inputs":1,"output":1}',
    '{"properties":{"inputs":1,"output":1},"properties":{"inputs":1}}',
    '\ufeff{"properties":{"inputs":1,"output":1}}',
    '{"properties":{"inputs":1,"output":1}',
    '{"properties":[{"inputs":1,"output":1}]}'
  ])("does not open %j", (text) => {
    expect(open(Buffer.from(text))).toBeUndefined()
  })

  it("refuses what is not UTF-8, before, behind and among known elements", () => {
    for (const bytes of [[0xff], [0xc3], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xc0, 0xaf]]) {
      const strings = ['"api":"', '"content":"0 ', '"content":"16 ', '"message":{"role":"']
      for (const string of strings) {
        const at = event.indexOf(string) + string.length
        expect(at).toBeGreaterThan(string.length)
        const text = Buffer.concat([event.subarray(0, at), Buffer.from(bytes), event.subarray(at)])
        check(text)
        expect(parsed(open(text)!.reduced)).toBeUndefined()
      }
    }
  })

  it("opens payloads that nothing can be known of", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000)
    for (const payload of [
      deep,
      `"${"\\\\".repeat(100_000)}"`,
      `[${"0,".repeat(100_000)}0]`,
      `{${'"":"",'.repeat(50_000)}"":""}`
    ]) {
      const text = Buffer.from(eventText({ inputs: payload, output: payload }))
      const { payload: found, reduced } = open(text)!
      expect(reduced).toBe(text)
      expect(text.toString("utf8", found.inputs.start, found.inputs.end) === payload).toBe(true)
      expect(text.toString("utf8", found.output.start, found.output.end) === payload).toBe(true)
      expect(open(text.subarray(0, text.length / 2))).toBeUndefined()
    }
  })

  it("measures the depth of nesting beside the payload, at each level up to its limit", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
    const payload = `"inputs":${nested(50_000)},"output":{"a":${nested(50_000)}}`
    for (const [text, levels] of [
      [(value: string) => `{"properties":{${payload}},"other":${value}}`, 10_001],
      [(value: string) => `{"other":${value},"properties":{${payload}}}`, 10_001],
      [(value: string) => `{"properties":{"x":${value},${payload}},"other":1}`, 10_000]
    ] as const) {
      for (const [more, isTooDeep] of [
        [0, false],
        [1, true],
        [40_000, true]
      ] as const) {
        const bytes = Buffer.from(text(nested(levels + more)))
        expect(open(bytes)!.isTooDeep).toBe(isTooDeep)
        checkSteps(bytes)
      }
    }
  })

  it("takes steps of a bounded size for a long text, also if its session comes last", () => {
    const { inputs, output } = calls.at(-1)!
    const known = inputs.replace(/]}$/, `,${JSON.stringify("x".repeat(10 * Steps.longFromBytes))}]}`)
    expect(known).not.toBe(inputs)
    for (const [text, times] of [
      [`{"session":"s","properties":{"inputs":${known},"output":${output}}}`, 1],
      [`{"properties":{"inputs":${known},"output":${output}},"session":"s"}`, 2]
    ] as const) {
      const bytes = Buffer.from(text)
      const parsing = EventJson.parse(bytes, (session) => knownSessions.get(session) ?? unknown, fields)
      let steps = 1
      let next = parsing.next()
      for (; next.done !== true; next = parsing.next()) steps++
      const { inputs } = next.value!.payload
      expect(inputs.candidates[0]!.kind).toBe("known-prefix")
      expect(steps).toBeGreaterThanOrEqual(Math.floor((times * bytes.length) / Steps.stepBytes) - times)
      expect(steps).toBeLessThanOrEqual(Math.ceil((times * bytes.length) / Steps.stepBytes) + times)
    }
  })
})
