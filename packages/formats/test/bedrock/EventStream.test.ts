import { crc32, EventStream } from "@tachograph/formats/bedrock/EventStream"
import { eventFrame, exceptionFrame, frame } from "../../../../scripts/vitest/BedrockFrames.ts"
import { expect, it } from "vitest"
import * as zlib from "node:zlib"

const payloads = (stream: EventStream, ...chunks: ReadonlyArray<Uint8Array>) =>
  chunks.flatMap((chunk) => stream.push(chunk)).map(({ payload }) => Buffer.from(payload).toString())

const frames = [
  frame({}, ""),
  frame({ a: "é", ":n": 7 }, '{"a":1}'),
  eventFrame("metadata", { long: "x".repeat(5_000) })
]
const said = ["", '{"a":1}', JSON.stringify({ long: "x".repeat(5_000), p: "abcdef" })]

it("computes the checksum of IEEE 802.3", () => {
  expect(crc32(Buffer.from("123456789"))).toBe(0xcbf43926)
  for (const one of frames) expect(crc32(one)).toBe(zlib.crc32(one))
})

it("cuts a body into frames, wherever that is cut itself", () => {
  const body = Buffer.concat(frames)
  expect(payloads(new EventStream(), body)).toEqual(said)
  expect(payloads(new EventStream(), ...Array.from(body, (byte) => Uint8Array.of(byte)))).toEqual(said)
  for (let at = 0; at <= body.length; at += 7) {
    const stream = new EventStream()
    expect(payloads(stream, body.subarray(0, at), body.subarray(at))).toEqual(said)
    expect(stream.pendingBytes).toBe(0)
  }
})

it("reads the texts among the headers", () => {
  const [first] = new EventStream().push(exceptionFrame("throttlingException", "é"))
  expect(Object.fromEntries(first!.headers)).toEqual({
    ":exception-type": "throttlingException",
    ":content-type": "application/json",
    ":message-type": "exception"
  })
})

it("ends at a frame that is damaged, in any of its bytes, and holds nothing more", () => {
  const damaged = frames[1]!
  for (let at = 0; at < damaged.length; at++) {
    const broken = Buffer.from(damaged)
    broken[at]! ^= 1
    const stream = new EventStream()
    expect(payloads(stream, frames[2]!, broken, frames[2]!)).toEqual([said[2]])
    expect(stream.pendingBytes).toBe(0)
  }
})

it("ends at a frame whose headers go on behind it, or that is longer than any", () => {
  const build = (length: number, headers: number, rest: Uint8Array) => {
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(length)
    lengths.writeUInt32BE(headers, 4)
    const sum = (bytes: Uint8Array) => {
      const four = Buffer.alloc(4)
      four.writeUInt32BE(zlib.crc32(bytes))
      return four
    }
    const whole = Buffer.concat([lengths, sum(lengths), rest])
    return Buffer.concat([whole, sum(whole)])
  }
  const bad = [
    build(15, 0, Buffer.alloc(0)),
    build(0xffffffff, 0, Buffer.alloc(0)),
    build(18, 4, Buffer.from("ab")),
    ...["\x09a", "\x01a\x07", "\x01a\x07\x00\x09b", "\x01a\x0b", "\x01a\x04\x00"].map((headers) =>
      build(16 + headers.length, headers.length, Buffer.from(headers, "latin1"))
    )
  ]
  for (const body of bad) expect(payloads(new EventStream(), body, frames[1]!)).toEqual([])
})
