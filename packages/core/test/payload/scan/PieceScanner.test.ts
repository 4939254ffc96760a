import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SessionIndex } from "../../../src/payload/SessionIndex.ts"
import * as PieceScanner from "../../../src/payload/scan/PieceScanner.ts"
import * as PiecePolicy from "../../../src/payload/scan/PiecePolicy.ts"
import { anyCalls, growing, noise } from "../Conversations.ts"
import { opened, RecordedSession } from "../RecordedSession.ts"

type Candidate = PieceScanner.PieceCandidate | PieceScanner.KnownPrefixCandidate

/** Every candidate, followed by those within it. */
const flat = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> =>
  candidates.flatMap((candidate) => [candidate, ...(candidate.kind === "known-prefix" ? [] : flat(candidate.inner))])

const described = (text: Buffer, { candidates }: PieceScanner.ScannedValue) =>
  flat(candidates).map(({ end, kind, start }) => `${kind} ${text.toString("utf8", start, end)}`)

const ofInputs = (inputs: string) => described(Buffer.from(inputs), PieceScanner.ofInputs(Buffer.from(inputs), 0, []))
const ofOutput = (output: string) => described(Buffer.from(output), PieceScanner.ofOutput(Buffer.from(output), 0))

/** A JSON string of this size. */
const stringOf = (seed: number, bytes: number) => `"${noise(seed, bytes - 2)}"`

const isInOrder = (candidates: ReadonlyArray<Candidate>, start: number, end: number): boolean => {
  let at = start
  for (const candidate of candidates) {
    if (candidate.start < at || candidate.end <= candidate.start || candidate.end > end) return false
    if (candidate.kind !== "known-prefix" && !isInOrder(candidate.inner, candidate.start, candidate.end)) return false
    at = candidate.end
  }
  return true
}

describe("PieceScanner", () => {
  it("finds values in the order of the text and without overlap", () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const session = new RecordedSession()
        const index = new SessionIndex()
        for (const texts of calls) {
          const { inputs, output, text } = opened(texts, index.knownPrefixes).payload
          expect(text.toString("utf8", inputs.start, inputs.end)).toBe(texts.inputs)
          expect(text.toString("utf8", output.start, output.end)).toBe(texts.output)
          for (const { candidates, end, start } of [inputs, output]) {
            expect(isInOrder(candidates, start, end)).toBe(true)
            for (const candidate of flat(candidates)) {
              const value = text.toString("utf8", candidate.start, candidate.end)
              // A known prefix consists of elements without the brackets.
              expect(() => JSON.parse(candidate.kind === "known-prefix" ? `[${value}]` : value)).not.toThrow()
            }
          }
          session.record(texts, index)
        }
      }),
      { numRuns: RandomJson.runs(40) }
    )
  })

  it("treats elements of the outermost arrays as history", () => {
    const [a, b, c] = [1, 2, 3].map((seed) => `"${noise(seed, 20)}"`)
    expect(ofInputs(`[${a},${b}]`)).toEqual([`history ${a}`, `history ${b}`])
    expect(ofInputs(`{"x":{"y":[${a},1,{"z":${b}}]},"w":[${c}]}`)).toEqual([
      `history ${a}`,
      `history {"z":${b}}`,
      `history ${c}`
    ])
    expect(ofInputs(`["fourteen bytes","just fourteen."]`)).toEqual([
      `history "fourteen bytes"`,
      `history "just fourteen."`
    ])
    expect(ofInputs(`["not sixteen.."]`)).toEqual([])
  })

  it("treats long strings and settings beside the conversation as single candidates", () => {
    const long = stringOf(1, PiecePolicy.minPartBytes)
    const tools = `[{"name":${long},"of":[${long}]}]`
    expect(
      ofInputs(`{"system":${long},"tools":${tools},"a":{"b":${long}},"short":${long.replace("0", "")}}`).slice(0, 3)
    ).toEqual([`setting ${long}`, `setting ${tools}`, `setting ${long}`])
    expect(ofInputs(`{"\\u0074ools":${tools}}`)).toEqual([`setting ${tools}`])
    expect(ofInputs(`{"tools":[]}`)).toEqual([])
    expect(ofInputs(long)).toEqual([`setting ${long}`])
    expect(ofInputs(stringOf(1, PiecePolicy.minPartBytes - 1))).toEqual([])
  })

  it("finds long strings in a message, and elements of its arrays with longer strings in them", () => {
    const [long, longer] = [stringOf(1, PiecePolicy.minPartBytes), stringOf(2, PiecePolicy.minStringInPartBytes)]
    const block = `{"type":"text","text":${longer}}`
    expect(ofInputs(`[{"role":"user","content":[${block},${long}],"name":${long}}]`)).toEqual([
      `history {"role":"user","content":[${block},${long}],"name":${long}}`,
      `part ${block}`,
      `part ${longer}`,
      `part ${long}`,
      `part ${long}`
    ])
  })

  it("treats strings in a leading instruction message as settings", () => {
    const long = stringOf(1, PiecePolicy.minPartBytes)
    for (const role of ["system", "developer", "user"]) {
      const message = `{ "role": "${role}", "content":${long}}`
      const kind = role === "user" ? "part" : "setting"
      expect(ofInputs(`{"messages":[${message},${message}]}`)).toEqual([
        `history ${message}`,
        `${kind} ${long}`,
        `history ${message}`,
        `part ${long}`
      ])
    }
  })

  it("finds no history in an output", () => {
    const [long, short] = [stringOf(1, PiecePolicy.minPartBytes), stringOf(2, PiecePolicy.minPartBytes - 1)]
    expect(ofOutput(`{"content":[{"text":${long}},${short}],"a":${long}}`)).toEqual([
      `part {"text":${long}}`,
      `part ${long}`
    ])
    expect(ofOutput(long)).toEqual([`part ${long}`])
    expect(ofOutput(short)).toEqual([])
  })

  it("does not search below the maximum depth", () => {
    const deep = (depth: number) => `${"[".repeat(depth)}"${noise(1, 600)}"${"]".repeat(depth)}`
    expect(ofOutput(deep(2)).length).toBe(2)
    expect(ofOutput(deep(5000)).length).toBeLessThan(50)
    expect(ofInputs(deep(5000)).length).toBeLessThan(50)
    expect(ofInputs(`${'{"a":'.repeat(5000)}"${noise(1, 600)}"${"}".repeat(5000)}`)).toEqual([])
  })

  it("limits the number of candidates, and still stores everything", () => {
    const texts = {
      inputs: `[${Array.from({ length: PiecePolicy.maxCandidates + 100 }, (_, n) => `"${n} ${"x".repeat(16)}"`).join(",")}]`,
      output: "1"
    }
    const index = new SessionIndex()
    const session = new RecordedSession()
    expect(session.record(texts, index).added.history).toBe(PiecePolicy.maxCandidates)
    expect(session.record(texts, index).added.history).toBe(0)
  })

  it("limits how many parts are within each other", () => {
    const levelsOf = (candidates: ReadonlyArray<Candidate>): number =>
      Math.max(0, ...candidates.map((each) => ("inner" in each ? 1 + levelsOf(each.inner) : 0)))
    const scanned = (text: string) => PieceScanner.ofOutput(Buffer.from(text), 0).candidates
    // A string in an object is one level more.
    for (const [open, close, more] of [
      ["[", "]", 0],
      ['[{"a":', "}]", 1]
    ] as const) {
      const nested = (levels: number) => `${open.repeat(levels)}"${noise(1, 3_000)}"${close.repeat(levels)}`
      // The last is deeper than is searched: the arrays around the string are found.
      for (const levels of [1, 5, 6, 7, 20, 100_000]) {
        expect(levelsOf(scanned(`{"a":${nested(levels)}}`))).toBe(Math.min(levels + more, 6))
        const [message] = PieceScanner.ofInputs(Buffer.from(`[[${nested(levels)}]]`), 0, []).candidates
        expect([message!.kind, levelsOf([message!])]).toEqual(["history", 1 + Math.min(levels + more + 1, 6)])
      }
      const text = `[${nested(20)},"${noise(2, 600)}"]`
      expect(scanned(text).map(({ end }) => end)).toEqual([expect.any(Number), text.length - 1])
    }
  })

  it("recognises a known prefix in any array, and only there", () => {
    const index = new SessionIndex()
    const session = new RecordedSession()
    const calls = growing(8, 60)
    for (const texts of calls) session.record(texts, index)
    const knownPrefixes = index.knownPrefixes.slice(0, 1)
    const { inputs } = calls.at(-1)!
    const countPrefixes = (text: string) =>
      PieceScanner.ofInputs(Buffer.from(text), 0, knownPrefixes).candidates.filter(
        ({ kind }) => kind === "known-prefix"
      ).length
    const messages = inputs.slice(inputs.indexOf("["), -1)
    expect(countPrefixes(inputs)).toBe(1)
    expect(countPrefixes(`{"x":{"y":${messages}},"z":[\n ${messages.slice(1)}}`)).toBe(2)
    expect(countPrefixes(messages)).toBe(1)
    // Not within an element, and not after one.
    expect(countPrefixes(`[${messages}]`)).toBe(0)
    expect(countPrefixes(`[1,${messages.slice(1)}`)).toBe(0)

    const known = PieceScanner.ofInputs(Buffer.from(messages), 0, knownPrefixes).candidates[0]!
    const at = [known.start + 2, known.start + 20, known.end - 33, known.end - 4]
    for (const index of at) expect(countPrefixes(`${messages.slice(0, index)}x${messages.slice(index + 1)}`)).toBe(0)
    expect(countPrefixes(`${messages.slice(0, known.end)}]`)).toBe(1)
    expect(countPrefixes(`${messages.slice(0, known.end)}\r\n]`)).toBe(1)
    for (const next of ["", "}", ":1", "0]", '"]'])
      expect(() => countPrefixes(messages.slice(0, known.end) + next)).toThrow()
  })

  it("limits the hashes of a text that contains the ending of a prefix very often", () => {
    const session = new RecordedSession()
    const index = new SessionIndex()
    const element = `"${"x".repeat(40)}"`
    session.record({ inputs: `["${noise(1, 20)}"]`, output: "1" }, index)
    session.record({ inputs: `[${Array.from({ length: 2000 }, () => element).join(",")}]`, output: "1" }, index)
    const { bytes } = index.knownPrefixes[0]!
    // Arrays of equal length, repeated so that from the start of each the ending of the prefix is at the expected offset.
    const length = Array.from({ length: 200 }, (_, index) => index + 40).find((x) => (bytes - x - 2) % (x + 8) === 0)!
    const inputs = `{${Array.from({ length: 4000 }, () => `"":["${"x".repeat(length)}"]`).join(",")}}`
    let hashes = 0
    const counting = index.knownPrefixes.map((prefix) => ({
      ...prefix,
      get sha256() {
        hashes++
        return prefix.sha256
      }
    }))
    PieceScanner.ofInputs(Buffer.from(inputs), 0, counting)
    expect(hashes).toBeLessThan(20)
  })

  it("scans texts without known prefixes, and a payload again", () => {
    const [a, b] = growing(8, 60).slice(-2)
    const payload = PieceScanner.ofTexts(` ${a!.inputs} `, `\n${a!.output}`)
    expect(payload.text.toString("utf8", payload.inputs.start, payload.inputs.end)).toBe(a!.inputs)
    expect(payload.text.toString("utf8", payload.output.start, payload.output.end)).toBe(a!.output)
    expect(payload.knownPrefixes).toBe(PieceScanner.noKnownPrefixes)

    const session = new RecordedSession()
    const index = new SessionIndex()
    session.record(a!, index)
    const known = opened(b!, index.knownPrefixes).payload
    expect(known.inputs.candidates[0]!.kind).toBe("known-prefix")
    const again = PieceScanner.rescan(known)
    expect(again.inputs.candidates).toEqual(opened(b!, []).payload.inputs.candidates)
    expect([again.text, again.output, again.knownPrefixes]).toEqual([
      known.text,
      known.output,
      PieceScanner.noKnownPrefixes
    ])
  })
})
