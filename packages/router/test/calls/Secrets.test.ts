import { Steps } from "@tachograph/core"
import { describe, expect, it } from "vitest"
import { Secrets } from "../../src/calls/Secrets.ts"

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
  return texts.map((text) => text?.toString())
}

describe("what is recorded", () => {
  it("has no credential, and each mask once", () => {
    expect(masked(["planted-key"], [], '{"a":"planted-key, planted-keyplanted-key"}', "planted-ke")).toEqual([
      '{"a":"[redacted], [redacted][redacted]"}',
      "planted-ke"
    ])
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
  })

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
