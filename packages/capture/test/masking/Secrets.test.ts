import { describe, expect, it } from "vitest"
import { Secrets } from "../../src/masking/Secrets.ts"
import * as Steps from "../../src/masking/Steps.ts"

const masked = (
  credentials: ReadonlyArray<string>,
  suspects: ReadonlyArray<string>,
  inputs: string,
  output: string
) => {
  const secrets = Steps.run(
    Secrets.make(
      { credentials, suspects },
      [inputs, output].map((text) => Buffer.from(text))
    )
  )
  if (secrets === undefined) return undefined
  const texts = [
    Steps.run(secrets.withoutInInputs(Buffer.from(inputs))),
    Steps.run(secrets.withoutInOutput(Buffer.from(output)))
  ]
  return texts.map((text) => text && Buffer.from(text).toString())
}

describe("what is recorded", () => {
  it("has no credential, and each mask once", () => {
    expect(masked(["planted-key"], [], '{"a":"planted-key, planted-keyplanted-key"}', "planted-ke")).toEqual([
      '{"a":"[redacted], [redacted][redacted]"}',
      "planted-ke"
    ])
  })

  it("has no beginning of a credential where a text breaks off within it, and what is shown on purpose", () => {
    const key = "planted/key+of-many=letters"
    const encoded = encodeURIComponent(key)
    const texts = [key.slice(0, -1), key.slice(0, 12), encoded.slice(0, -2), "planted/key"]
    const output = JSON.stringify({ texts, shown: `${key.slice(0, 13)}… is wrong`, key })
    expect(JSON.parse(masked([key], [], "{}", output)![1]!)).toEqual({
      texts: ["[redacted]", "[redacted]", "[redacted]", "planted/key"],
      shown: "planted/key+o… is wrong",
      key: "[redacted]"
    })
  })

  it("has no beginning of a credential that repeats itself, each mask once, and nothing else less", () => {
    const key = "abab".repeat(10)
    const output = JSON.stringify({ before: "x", cut: `abab ${"abab".repeat(6)}`, after: ["y", "abab".repeat(3)] })
    expect(JSON.parse(masked([key], [], "{}", output)![1]!)).toEqual({
      ...{ before: "x", cut: "abab [redacted]", after: ["y", "[redacted]"] }
    })
  })

  it.each([
    ["beginnings", `${"a".repeat(12)}${"b".repeat(100)}`, `"${"a".repeat(8 * 1024 * 1024)}"`, 400],
    ["texts", "planted-key", `[${'"planted-key",'.repeat(100_000)}0]`, 65],
    ["numbers", "1234567", `[${"1234567,".repeat(100_000)}0]`, 55]
  ])("has no more work in a step, however many %s are credentials", (_what, key, output, least) => {
    const made = Steps.run(Secrets.make({ credentials: [key], suspects: [] }, []))!
    const steps = made.withoutInOutput(Buffer.from(output))
    let count = 0
    for (let step = steps.next(); step.done !== true; step = steps.next()) count++
    expect(count).toBeGreaterThan(least)
  })

  it.each([
    ["nvapi-1234567890abcdef", "\nvapi-1234567890abcdef", "\nvapi-1234567890abcdef"],
    ["tok-1234567890abcdef", "a\ttok-1234567890abcdef \tok-1234567890abcdef", "a\t[redacted] \tok-1234567890abcdef"],
    ["u0041-1234567890abcdef", "\u0001\\u0041-1234567890abcdef", "\u0001\\[redacted]"],
    ["\\".repeat(12), "\\".repeat(101), "[redacted]"]
  ])("stays JSON where a credential seems to begin within an escape: %s", (key, text, left) => {
    const [inputs, output] = masked(
      [key],
      [],
      JSON.stringify({ text }),
      JSON.stringify({ text, cut: text.slice(0, -1) })
    )!
    expect([JSON.parse(inputs!).text, JSON.parse(output!).text]).toEqual([left, left])
  })

  it("has no credential whose first character is escaped", () => {
    expect(masked(["/planted+key/of=letters"], [], '{"a":"\\/planted+key\\/of=letters"}', "")![0]).toBe(
      '{"a":"[redacted]"}'
    )
  })

  it("has no part of two credentials that overlap", () => {
    expect(masked(["planted-one-two", "two-three-planted"], [], "<planted-one-two-three-planted>", "")![0]).toBe(
      "<[redacted]>"
    )
    expect(masked(["planted-one-two", "one-two!"], [], "<planted-one-two!>", "")![0]).toBe("<[redacted]>")
  })

  it("has what only may be a credential where the request's body has it", () => {
    expect(masked([], ["suspect-one", "suspect-two"], "suspect-one", "suspect-one suspect-two")).toEqual([
      "suspect-one",
      "suspect-one [redacted]"
    ])
  })

  it("has no credential that is written in UTF-8, or with the bytes of a header", () => {
    expect(masked(["plänted-key"], [], "plänted-key", "")![0]).toBe("[redacted]")
    const inHeader = Buffer.from("plänted-key").toString("latin1")
    expect(masked([inHeader], [], "plänted-key", "")![0]).toBe("[redacted]")
    expect(masked(["pl\xe4nted-key"], [], "pl\ufffdnted-key", "")![0]).toBe("[redacted]")
  })

  it("has no half of a character", () => {
    expect(masked(["\xa4nted-key"], [], "plänted-key", "")![0]).toBe("plänted-key")
  })

  it.each([
    ['{"a":12345678}', '{"a":"[redacted]"}'],
    ['{"12345678":[12345678 , -1.12345678e5,1234567812345678,12345678901,1]}', null],
    ['{"a":"12345678, 12345678","b":"\\\\","c":"\\"12345678","d":12345678,"e":[true,12345678,false]}', null],
    ['{"a":{"b\\\\\\"":12345678},"c":[],"d":"12345678"}', null],
    ["12345678", '"[redacted]"']
  ])("stays JSON without a credential that is a number: %s", (text, expected) => {
    const [found] = masked(["12345678"], [], text, "{}")!
    expect(found).not.toContain("12345678")
    const kept = JSON.parse(text, (_, value) => (typeof value === "number" && value !== 1 ? "[redacted]" : value))
    expect(JSON.parse(found!)).toEqual(JSON.parse(JSON.stringify(kept).replaceAll("12345678", "[redacted]")))
    if (expected !== null) expect(found).toBe(expected)
  })

  it.each(["1,2,3,4,5,6", "[1,2,3,4,5]", "true,12345", "{1234567}", "1e5,2e5,true"])(
    "stays JSON without numbers that follow each other as in a credential: %s",
    (credential) => {
      const text = `{"a":[[1,2,3,4,5],1,2,3,4,5,6,[[true,12345,1e5,2e5,true]]],"b":"${credential}"}`
      const [found] = masked([credential], [], text, "{}")!
      expect(found).not.toContain(credential)
      expect(JSON.parse(found!)).toMatchObject({ b: "[redacted]" })
    }
  )

  it("is made of many credentials as well, and of no more than can be looked for", () => {
    const keys = (count: number) => Array.from({ length: count }, (_, n) => `planted-key-${1e6 + n}`)
    const [text] = masked(keys(500), [], keys(500).join(), "")!
    expect(text === keys(500).fill("[redacted]").join()).toBe(true)
    expect(masked(keys(4_000), [], "", "")).toBeUndefined()
    expect(masked(["planted"], keys(4_000), "", "")).toBeUndefined()
  })

  it("is kept where a text has many escapes, and credentials are short", () => {
    const keys = Array.from({ length: 40 }, (_, n) => `key-${1e3 + n}`)
    const text = `"${"\\u00e9\\u00e8".repeat(300_000)}"`
    expect(masked(keys, [], text, "")?.[0] === text).toBe(true)
  })
})
