import { defaultProject } from "@tachograph/core"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { smallAnswerBytes } from "../../src/Engine.ts"
import { AnswerTimeout } from "../../src/front/AnswerTimeout.ts"
import * as Reply from "../../src/front/Reply.ts"
import * as Answer from "../../src/response/Answer.ts"

const pieceBytes = 64 * 1024
const timeoutMs = 1_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const piecesOf = (body: Answer.Body) => {
  const release = vi.fn()
  const onTimeout = vi.fn()
  const pieces = new Reply.Pieces(Answer.json(body), timeoutMs, release)
  pieces.onTimeout = onTimeout
  return { pieces, release, onTimeout }
}

const takeAll = (pieces: Reply.Pieces): ReadonlyArray<Uint8Array> => {
  const taken: Array<Uint8Array> = []
  while (!pieces.isEmpty) taken.push(pieces.next()!)
  return taken
}

describe("Pieces", () => {
  const bodies: ReadonlyArray<readonly [string, Answer.Body, pieces: number]> = [
    ["no parts", [], 0],
    ["empty parts", [new Uint8Array(), Buffer.from("{}"), new Uint8Array()], 1],
    ["a part of one piece, and one byte more", [Buffer.alloc(pieceBytes, 1), Buffer.alloc(pieceBytes + 1, 2)], 3],
    ["an empty text", "", 0],
    ["a text of one piece", "é".repeat(21_845), 1],
    ["a text of one unit more", "é".repeat(21_846), 2],
    ["a text whose pair of surrogates is at the end of a piece", `${"x".repeat(21_844)}😀y`, 2],
    ["a text of pairs", "😀".repeat(50_000), 5]
  ]

  it.each(bodies)("cut %s", (_, body, count) => {
    const taken = takeAll(piecesOf(body).pieces)
    expect(Buffer.concat(taken).equals(Buffer.from(Answer.whole(body)))).toBe(true)
    expect(taken.map(({ length }) => length).filter((length) => length === 0 || length > pieceBytes)).toEqual([])
    expect(taken).toHaveLength(count)
  })

  it("are views of the body, which is not copied", () => {
    const part = Buffer.alloc(3 * pieceBytes)
    expect(takeAll(piecesOf([part]).pieces).map(({ buffer }) => buffer)).toEqual(Array(3).fill(part.buffer))
  })

  it("release the body when they are closed, before or after the last one is taken", () => {
    const { onTimeout, pieces, release } = piecesOf([Buffer.alloc(2 * pieceBytes)])
    pieces.next()
    expect(release).not.toHaveBeenCalled()
    pieces.close()
    expect(release).toHaveBeenCalledOnce()
    expect([pieces.next(), pieces.isEmpty]).toEqual([undefined, true])
    vi.advanceTimersByTime(2 * timeoutMs)
    expect(onTimeout).not.toHaveBeenCalled()
  })

  it("free the body when they are closed, and with it the pieces that were taken", () => {
    const body = [Buffer.from("{"), Buffer.alloc(3 * pieceBytes), Buffer.from("}")]
    const { pieces } = piecesOf(body)
    const taken = [pieces.next()!, pieces.next()!]
    expect(taken.map(({ length }) => length)).toEqual([1, pieceBytes])
    pieces.close()
    expect(body.map(({ length }) => length)).toEqual([1, 0, 1])
    expect(taken.map(({ length }) => length)).toEqual([1, 0])
  })

  it("are closed when none is taken for the timeout and no mount has taken them", () => {
    const release = vi.fn()
    void new Reply.Pieces(Answer.json([Buffer.alloc(1)]), timeoutMs, release)
    vi.advanceTimersByTime(timeoutMs)
    expect(release).toHaveBeenCalledOnce()
  })

  it("tell the mount when none is taken for the timeout, counted from the last one, and hold the body until it closes them", () => {
    const { onTimeout, pieces, release } = piecesOf([Buffer.alloc(5 * pieceBytes)])
    for (let taken = 0; taken < 3; taken++) {
      vi.advanceTimersByTime(timeoutMs - 1)
      expect(pieces.next()).toHaveLength(pieceBytes)
    }
    vi.advanceTimersByTime(timeoutMs - 1)
    expect([release.mock.calls.length, onTimeout.mock.calls.length]).toEqual([0, 0])
    vi.advanceTimersByTime(1)
    expect([release.mock.calls.length, onTimeout.mock.calls.length]).toEqual([0, 1])
    expect(() => pieces.next()).toThrow(AnswerTimeout)
    pieces.close()
    expect(release).toHaveBeenCalledOnce()
  })

  it("are waited for until the last one is written", () => {
    const { onTimeout, pieces } = piecesOf([Buffer.alloc(1)])
    takeAll(pieces)
    vi.advanceTimersByTime(timeoutMs)
    expect(onTimeout).toHaveBeenCalledOnce()
  })
})

describe("Reply.of", () => {
  const permitOf = (fits: boolean) => ({
    reserveAnswer: vi.fn(() => fits),
    openStream: vi.fn(() => fits),
    release: vi.fn()
  })

  it("does not count a small answer", () => {
    const permit = permitOf(false)
    const answer = Answer.json("x".repeat(smallAnswerBytes))
    expect(Reply.of(answer, timeoutMs, permit, defaultProject)).toBe(answer)
    expect(permit.reserveAnswer).not.toHaveBeenCalled()
  })

  it("counts one that waits behind others, unless it takes less than its request", () => {
    const permit = permitOf(true)
    const behind = (bytes: number) =>
      Reply.of(Answer.json("x".repeat(bytes)), timeoutMs, permit, defaultProject, () => true)
    expect([behind(1023)?.pieces, permit.reserveAnswer.mock.calls]).toEqual([undefined, []])
    const reply = behind(1024)
    expect(permit.reserveAnswer.mock.calls).toEqual([[1024]])
    reply?.pieces?.close()
    expect(permit.release).toHaveBeenCalledOnce()
  })

  it("counts the bytes of a larger answer until it is taken", () => {
    const permit = permitOf(true)
    const text = "é".repeat(smallAnswerBytes / 2)
    const reply = Reply.of(Answer.json(`${text}x`), timeoutMs, permit, defaultProject)
    expect(permit.reserveAnswer.mock.calls).toEqual([[smallAnswerBytes + 1]])
    expect(permit.release).not.toHaveBeenCalled()
    reply?.pieces?.close()
    expect(permit.release).toHaveBeenCalledOnce()
  })

  it("is undefined if the answer does not fit, whose body is freed", () => {
    const body = [Buffer.alloc(3 * pieceBytes)]
    expect(Reply.of(Answer.json(body), timeoutMs, permitOf(false), defaultProject)).toBeUndefined()
    expect(body[0]).toHaveLength(0)
  })

  it("does not count an answer that all requests share", () => {
    const permit = permitOf(false)
    const answer = Answer.shared(Answer.json("x".repeat(150_000)))
    const reply = Reply.of(answer, timeoutMs, permit, defaultProject)
    expect(takeAll(reply!.pieces!)).toHaveLength(3)
    reply?.pieces?.close()
    expect(Answer.byteLength(answer.body)).toBe(150_000)
    expect([permit.reserveAnswer.mock.calls, permit.release.mock.calls]).toEqual([[], []])
  })
})
