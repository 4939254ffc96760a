import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SessionIndex } from "../../../src/payload/SessionIndex.ts"
import * as PieceScanner from "../../../src/payload/scan/PieceScanner.ts"
import * as PiecePolicy from "../../../src/payload/scan/PiecePolicy.ts"
import { anyCalls, growing, noise } from "../Conversations.ts"
import { opened, RecordedSession } from "../RecordedSession.ts"

type AnyMark = PieceScanner.PieceCandidate | PieceScanner.KnownPrefixCandidate

/** Every mark, with those in it behind it. */
const flat = (marks: ReadonlyArray<AnyMark>): ReadonlyArray<AnyMark> =>
  marks.flatMap((mark) => [mark, ...(mark.kind === "known-prefix" ? [] : flat(mark.inner))])

const shown = (text: Buffer, { candidates: marks }: PieceScanner.ScannedValue) =>
  flat(marks).map(({ end, kind, start }) => `${kind} ${text.toString("utf8", start, end)}`)

const ofInputs = (inputs: string) => shown(Buffer.from(inputs), PieceScanner.ofInputs(Buffer.from(inputs), 0, []))
const ofOutput = (output: string) => shown(Buffer.from(output), PieceScanner.ofOutput(Buffer.from(output), 0))

/** A string of so many bytes. */
const ofBytes = (seed: number, bytes: number) => `"${noise(seed, bytes - 2)}"`

const isInOrder = (marks: ReadonlyArray<AnyMark>, start: number, end: number): boolean => {
  let at = start
  for (const mark of marks) {
    if (mark.start < at || mark.end <= mark.start || mark.end > end) return false
    if (mark.kind !== "known-prefix" && !isInOrder(mark.inner, mark.start, mark.end)) return false
    at = mark.end
  }
  return true
}

describe("PieceScanner", () => {
  it("marks values, in the order of the text and without overlap", () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const session = new RecordedSession()
        const sessionIndex = new SessionIndex()
        for (const texts of calls) {
          const { inputs, output, text } = opened(texts, sessionIndex.knownPrefixes).payload
          expect(text.toString("utf8", inputs.start, inputs.end)).toBe(texts.inputs)
          expect(text.toString("utf8", output.start, output.end)).toBe(texts.output)
          for (const { end, candidates: marks, start } of [inputs, output]) {
            expect(isInOrder(marks, start, end)).toBe(true)
            for (const mark of flat(marks)) {
              const value = text.toString("utf8", mark.start, mark.end)
              // The elements of a conversation without its brackets.
              expect(() => JSON.parse(mark.kind === "known-prefix" ? `[${value}]` : value)).not.toThrow()
            }
          }
          session.record(texts, sessionIndex)
        }
      }),
      { numRuns: 40 }
    )
  })

  it("takes elements of arrays that are reached through objects alone for the history", () => {
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

  it("takes long strings and settings beside the conversation whole", () => {
    const long = ofBytes(1, PiecePolicy.partBytes)
    const tools = `[{"name":${long},"of":[${long}]}]`
    expect(
      ofInputs(`{"system":${long},"tools":${tools},"a":{"b":${long}},"short":${long.replace("0", "")}}`).slice(0, 3)
    ).toEqual([`setting ${long}`, `setting ${tools}`, `setting ${long}`])
    expect(ofInputs(`{"\\u0074ools":${tools}}`)).toEqual([`setting ${tools}`])
    expect(ofInputs(`{"tools":[]}`)).toEqual([])
    expect(ofInputs(long)).toEqual([`setting ${long}`])
    expect(ofInputs(ofBytes(1, PiecePolicy.partBytes - 1))).toEqual([])
  })

  it("marks long strings in a message, and elements of its arrays with the longer ones in them", () => {
    const [long, longer] = [ofBytes(1, PiecePolicy.partBytes), ofBytes(2, PiecePolicy.stringInPartBytes)]
    const block = `{"type":"text","text":${longer}}`
    expect(ofInputs(`[{"role":"user","content":[${block},${long}],"name":${long}}]`)).toEqual([
      `history {"role":"user","content":[${block},${long}],"name":${long}}`,
      `part ${block}`,
      `part ${longer}`,
      `part ${long}`,
      `part ${long}`
    ])
  })

  it("takes strings in a first message that instructs for settings", () => {
    const long = ofBytes(1, PiecePolicy.partBytes)
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
    const [long, short] = [ofBytes(1, PiecePolicy.partBytes), ofBytes(2, PiecePolicy.partBytes - 1)]
    expect(ofOutput(`{"content":[{"text":${long}},${short}],"a":${long}}`)).toEqual([
      `part {"text":${long}}`,
      `part ${long}`
    ])
    expect(ofOutput(long)).toEqual([`part ${long}`])
    expect(ofOutput(short)).toEqual([])
  })

  it("looks no deeper than makes sense", () => {
    const deep = (depth: number) => `${"[".repeat(depth)}"${noise(1, 600)}"${"]".repeat(depth)}`
    expect(ofOutput(deep(2)).length).toBe(2)
    expect(ofOutput(deep(5000)).length).toBeLessThan(50)
    expect(ofInputs(deep(5000)).length).toBeLessThan(50)
    expect(ofInputs(`${'{"a":'.repeat(5000)}"${noise(1, 600)}"${"}".repeat(5000)}`)).toEqual([])
  })

  it("marks no more values than there is memory for, and loses nothing", () => {
    const texts = {
      inputs: `[${Array.from({ length: PiecePolicy.maxCandidates + 100 }, (_, n) => `"${n} ${"x".repeat(16)}"`).join(",")}]`,
      output: "1"
    }
    const sessionIndex = new SessionIndex()
    const session = new RecordedSession()
    expect(session.record(texts, sessionIndex).added.history).toBe(PiecePolicy.maxCandidates)
    expect(session.record(texts, sessionIndex).added.history).toBe(0)
  })

  it("recognises how a conversation began, wherever it stands, and only that", () => {
    const sessionIndex = new SessionIndex()
    const session = new RecordedSession()
    const calls = growing(8, 60)
    for (const texts of calls) session.record(texts, sessionIndex)
    const knownPrefixes = sessionIndex.knownPrefixes.slice(0, 1)
    const { inputs } = calls.at(-1)!
    const begins = (text: string) =>
      PieceScanner.ofInputs(Buffer.from(text), 0, knownPrefixes).candidates.filter(
        ({ kind }) => kind === "known-prefix"
      ).length
    const messages = inputs.slice(inputs.indexOf("["), -1)
    expect(begins(inputs)).toBe(1)
    expect(begins(`{"x":{"y":${messages}},"z":[\n ${messages.slice(1)}}`)).toBe(2)
    expect(begins(messages)).toBe(1)
    // Not in an element, nor behind one.
    expect(begins(`[${messages}]`)).toBe(0)
    expect(begins(`[1,${messages.slice(1)}`)).toBe(0)

    const known = PieceScanner.ofInputs(Buffer.from(messages), 0, knownPrefixes).candidates[0]!
    const at = [known.start + 2, known.start + 20, known.end - 33, known.end - 4]
    for (const place of at) expect(begins(`${messages.slice(0, place)}x${messages.slice(place + 1)}`)).toBe(0)
    expect(begins(`${messages.slice(0, known.end)}]`)).toBe(1)
    expect(begins(`${messages.slice(0, known.end)}\r\n]`)).toBe(1)
    for (const next of ["", "}", ":1", "0]", '"]']) expect(() => begins(messages.slice(0, known.end) + next)).toThrow()
  })

  it("hashes a text but a few times, however often a beginning seems to stand in it", () => {
    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    const element = `"${"x".repeat(40)}"`
    session.record({ inputs: `["${noise(1, 20)}"]`, output: "1" }, sessionIndex)
    session.record({ inputs: `[${Array.from({ length: 2000 }, () => element).join(",")}]`, output: "1" }, sessionIndex)
    const { bytes } = sessionIndex.knownPrefixes[0]!
    // Arrays in a period such that, seen from each, the last bytes of the beginning are where they have to be.
    const length = Array.from({ length: 200 }, (_, index) => index + 40).find((x) => (bytes - x - 2) % (x + 8) === 0)!
    const inputs = `{${Array.from({ length: 4000 }, () => `"":["${"x".repeat(length)}"]`).join(",")}}`
    let hashed = 0
    const counting = sessionIndex.knownPrefixes.map((beginning) => ({
      ...beginning,
      get sha256() {
        hashed++
        return beginning.sha256
      }
    }))
    PieceScanner.ofInputs(Buffer.from(inputs), 0, counting)
    expect(hashed).toBeLessThan(20)
  })

  it("marks texts of which nothing is known, and a payload again", () => {
    const [a, b] = growing(8, 60).slice(-2)
    const payload = PieceScanner.ofTexts(` ${a!.inputs} `, `\n${a!.output}`)
    expect(payload.text.toString("utf8", payload.inputs.start, payload.inputs.end)).toBe(a!.inputs)
    expect(payload.text.toString("utf8", payload.output.start, payload.output.end)).toBe(a!.output)
    expect(payload.knownPrefixes).toBe(PieceScanner.noKnownPrefixes)

    const session = new RecordedSession()
    const sessionIndex = new SessionIndex()
    session.record(a!, sessionIndex)
    const known = opened(b!, sessionIndex.knownPrefixes).payload
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
