import { inJson } from "@tachograph/capture/masking/Credentials"
import { describe, expect, it } from "vitest"
import { masked } from "../../src/event/Masking.ts"

/** A text as that of an answer. */
const withoutSecrets = (output: string, secrets: ReadonlyArray<string>): string =>
  masked({ inputs: "{}", output, secrets }).output

describe("withoutSecrets", () => {
  it.each([
    ["nothing to mask", "nothing to mask"],
    ['{"a":"secret-one, secret-two"}', '{"a":"[redacted], [redacted]"}'],
    ["secret-onesecret-one", "[redacted][redacted]"],
    ["Bearer secret-one", "[redacted]"],
    ["a (b) $c\\d^|[e]{f}+g?.h*/i-j", "a (b) $c\\d^|[e]{f}+g?.h*/i-j"],
    [JSON.stringify('x [a](b)$c\\d^"|{e}+f?.g*/h-i y'), '"x [redacted] y"'],
    ["secret-once-more", "[redacted]"],
    ["xsecret-oncex", "x[redacted]x"]
  ])("of %j is %j", (text, masked) => {
    const secrets = [
      "Bearer secret-one",
      "secret-one",
      "secret-two",
      '[a](b)$c\\d^"|{e}+f?.g*/h-i',
      "secret-once",
      "once-more"
    ]
    expect(withoutSecrets(text, secrets)).toBe(masked)
  })

  it.each(["sk-key/with+all %", 'sk-"quoted\\key"', "sk-%2Fencoded%20key"])("masks each form of %j", (secret) => {
    const forms = inJson(secret)
    for (const form of forms) expect(withoutSecrets(`"${form}"`, [secret])).toBe('"[redacted]"')
    expect(withoutSecrets(forms.join(" "), [secret])).toBe(forms.map(() => "[redacted]").join(" "))
  })

  it("finds what a text has, whatever the texts before it had", () => {
    const keys = Array.from({ length: 40 }, (_, n) => `planted-key&${n}-of-many`)
    for (const turn of [1, 2]) {
      for (const [n, key] of keys.entries()) {
        const [other] = keys.slice(n - 1)
        expect(withoutSecrets(`"${key} ${other} ${turn}"`, [key])).toBe(`"[redacted] ${other} ${turn}"`)
        expect(withoutSecrets(`"${key.replace("&", "\\u0026")}"`, [key])).toBe('"[redacted]"')
      }
    }
    const long = "a".repeat(4000)
    expect(() => withoutSecrets(JSON.stringify("a".repeat(1_000_000)), [long])).toThrow("takes too long")
    expect(withoutSecrets(`"${long}"`, [long])).toBe('"[redacted]"')
  })

  it("stays JSON where a credential seems to begin within an escape", () => {
    const text = "\nvapi-1234567890abcdef \\nvapi-1234567890abcdef"
    const left = withoutSecrets(JSON.stringify({ text }), ["nvapi-1234567890abcdef"])
    expect(JSON.parse(left)).toEqual({ text: "\nvapi-1234567890abcdef \\[redacted]" })
  })

  it.each([
    ['{"a":12345678}', '{"a":"[redacted]"}'],
    [
      '{"12345678":[12345678 , -1.12345678e5,12345678901,1]}',
      '{"[redacted]":["[redacted]" , "[redacted]","[redacted]",1]}'
    ],
    ['{"a":"\\"12345678","b":[true,12345678,false]}', '{"a":"\\"[redacted]","b":[true,"[redacted]",false]}'],
    ["12345678", '"[redacted]"']
  ])("stays JSON without a credential that is a number: %s", (text, masked) => {
    expect(withoutSecrets(text, ["12345678"])).toBe(masked)
    expect(() => JSON.parse(masked)).not.toThrow()
  })

  it("refuses more credentials than a request has", () => {
    const [most, more] = [64, 65].map((count) => Array.from({ length: count }, (_, n) => `${n}-`.padEnd(1024, "k")))
    expect(withoutSecrets(`"${most![7]}"`, most!)).toBe('"[redacted]"')
    expect(() => withoutSecrets('""', more!)).toThrow("too many credentials")
  })

  it("leaves no beginning of a credential where a text breaks off within it, and what is shown on purpose", () => {
    const key = "planted/key+of-many=letters"
    const texts = [key.slice(0, -1), key.slice(0, 12), encodeURIComponent(key).slice(0, -2), "planted/key"]
    const output = JSON.stringify({ texts, shown: `${key.slice(0, 13)}… is wrong`, key })
    expect(JSON.parse(withoutSecrets(output, [key]))).toEqual({
      texts: ["[redacted]", "[redacted]", "[redacted]", "planted/key"],
      shown: "planted/key+o… is wrong",
      key: "[redacted]"
    })
  })

  it("gives up on a text of repetitions of a long credential, and masks those of a short one", () => {
    const text = JSON.stringify("a".repeat(1_000_000))
    for (const key of ["a".repeat(4000), `${"a".repeat(4000)}b`])
      expect(() => withoutSecrets(text, [key])).toThrow("takes too long")
    expect(withoutSecrets(text, ["a".repeat(16)])).toBe('"[redacted]"')
    expect(withoutSecrets(`"${"a".repeat(4000)}-"`, ["a".repeat(4000)])).toBe('"[redacted]-"')
  })

  it("masks what begins as a longer one does that is not there", () => {
    const [short, long] = ["abcdefghijkl", `${"abcdefghijkl".repeat(4)}xyz`]
    expect(withoutSecrets(`${short.repeat(3)} ${long} ${short}`, [long, short])).toBe(
      "[redacted][redacted][redacted] [redacted] [redacted]"
    )
  })
})
