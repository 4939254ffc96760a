/** Bodies in pieces between two threads. */
import { Context, Effect, Stream } from "effect"
import { MessageChannel, type Transferable } from "node:worker_threads"
import { expect, it, onTestFinished } from "vitest"
import { type StreamMessage, Streams, windowBytes } from "../../src/engine/thread/Streams.ts"
import * as BodyStream from "../../src/response/BodyStream.ts"

/** Both ends, with a real channel between them. */
const ends = () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const end = (port: typeof port1) => {
    const streams = new Streams((message, transfers = []) =>
      port.postMessage(message, transfers as ReadonlyArray<Transferable>)
    )
    port.on("message", (message: StreamMessage) => streams.handle(message))
    return streams
  }
  return [end(port1), end(port2)] as const
}

const bodyOf = (stream: Stream.Stream<string | Uint8Array, unknown>) =>
  BodyStream.ofStream(stream, Context.empty(), () => {})

/** Counts what is made, and says whether it is over. */
const counted = (stream: Stream.Stream<string | Uint8Array, unknown>) => {
  const seen = { parts: 0, isOver: false }
  const counting = Stream.ensuring(
    Stream.tap(stream, () => Effect.sync(() => seen.parts++)),
    Effect.sync(() => (seen.isOver = true))
  )
  return { seen, body: bodyOf(counting) }
}

const takeAll = async (body: BodyStream.BodyStream) => {
  const pieces: Array<Uint8Array> = []
  for (let piece = await body.next(); piece !== undefined; piece = await body.next()) pieces.push(piece)
  return pieces
}

const part = "é".repeat(5_000)

it("arrive as they were made, in pieces that are alone in their memory", async () => {
  const [here, there] = ends()
  const parts = ["short", "", Buffer.from("pooled"), part.repeat(20), new Uint8Array(BodyStream.pieceBytes).fill(32)]
  // The last one is transferred as it is.
  const expected = Buffer.concat(parts.map((text) => Buffer.from(text)))
  here.send(7, bodyOf(Stream.fromIterable(parts)))
  here.send(8, bodyOf(Stream.empty))
  const [pieces, none] = await Promise.all([takeAll(there.receive(7)), takeAll(there.receive(8))])
  expect(Buffer.concat(pieces).equals(expected)).toBe(true)
  for (const { buffer, byteLength } of pieces) expect(buffer.byteLength).toBe(byteLength)
  expect(none).toEqual([])
  expect([here.size, there.size]).toEqual([0, 0])
})

it("are made no further than a window ahead of what is taken", async () => {
  const [here, there] = ends()
  const { body, seen } = counted(Stream.forever(Stream.make(part)))
  here.send(1, body)
  const received = there.receive(1)
  const bytes = Buffer.byteLength(part)
  const ahead = Math.floor(windowBytes / bytes) + 2
  for (let taken = 1; taken < 50; taken++) {
    await received.next()
    expect(seen.parts).toBeLessThanOrEqual(taken + ahead)
  }
  await expect.poll(() => seen.parts).toBeGreaterThan(50)
  received.cancel()
  await expect.poll(() => seen.isOver).toBe(true)
  await expect(received.next()).rejects.toThrow(BodyStream.BodyCut)
  expect([here.size, there.size]).toEqual([0, 0])
})

it("are not made before they are asked for", async () => {
  const [here, there] = ends()
  const { body, seen } = counted(Stream.make(part))
  here.send(1, body)
  const received = there.receive(1)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([seen.parts, there.size]).toEqual([0, 0])
  received.cancel()
  await expect.poll(() => here.size).toBe(0)
  expect(seen.parts).toBe(0)
})

it("are cut where making them fails", async () => {
  const [here, there] = ends()
  here.send(1, bodyOf(Stream.concat(Stream.make(part), Stream.fail("planted by the test"))))
  await expect(takeAll(there.receive(1))).rejects.toThrow(BodyStream.BodyCut)
  expect([here.size, there.size]).toEqual([0, 0])
})

it("are cut where a thread ends, also those that are asked for later", async () => {
  const [here, there] = ends()
  const { body, seen } = counted(Stream.concat(Stream.make(part), Stream.never))
  here.send(1, body)
  const received = there.receive(1)
  const later = there.receive(2)
  await received.next()
  const waiting = received.next()
  there.close()
  await expect(waiting).rejects.toThrow(BodyStream.BodyCut)
  await expect(later.next()).rejects.toThrow(BodyStream.BodyCut)
  here.close()
  await expect.poll(() => seen.isOver).toBe(true)
})

it("ask the side that takes them for the memory that they need", async () => {
  const [, there] = ends()
  const asked: Array<number> = []
  const received = there.receive(1, async (bytes) => asked.push(bytes) > 0)
  expect(there.reserve(1, 5)).toBeUndefined()
  const next = received.next()
  expect(await there.reserve(1, 10)).toBe(true)
  expect(asked).toEqual([10])
  received.cancel()
  await expect(next).rejects.toThrow(BodyStream.BodyCut)
})
