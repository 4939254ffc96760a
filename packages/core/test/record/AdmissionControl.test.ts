import { describe, expect, it } from "vitest"
import { defaultCommitLimits } from "../../src/record/GroupCommit.ts"
import { AdmissionControl } from "../../src/record/AdmissionControl.ts"

const { queue } = defaultCommitLimits
const limits = { ...defaultCommitLimits, queue: { ...queue, events: 2, bytes: 100 }, bodies: 150 }

const roomWith = (isBehind = () => false) => new AdmissionControl(limits, isBehind)

/** A body of so many bytes has come whole. */
const waiting = (room: AdmissionControl, bytes: number) => {
  const place = room.permit()
  expect([place.reserve(bytes), place.enqueue()]).toEqual([true, true])
  return place
}

describe("Room", () => {
  it("has some for so many events as may wait, and for one more when one has gone", () => {
    const room = roomWith()
    const first = waiting(room, 1)
    expect(room.permit().canAdmit(1)).toBe(true)
    waiting(room, 1)
    expect(room.permit().canAdmit(1)).toBe(false)
    expect(room.permit().enqueue()).toBe(false)
    first.release()
    expect(room.permit().canAdmit(1)).toBe(true)
  })

  it("has some for so many bytes as may wait", () => {
    const room = roomWith()
    waiting(room, 60)
    expect([room.permit().canAdmit(40), room.permit().canAdmit(41)]).toEqual([true, false])
    const late = room.permit()
    expect([late.reserve(41), late.enqueue()]).toEqual([true, false])
  })

  it("has some for so many bytes as are held, of bodies that have yet to come whole, too", () => {
    const room = roomWith()
    const first = room.permit()
    const second = room.permit()
    expect([first.reserve(100), second.reserve(50), second.reserve(1), first.reserve(1)]).toEqual([
      true,
      true,
      false,
      false
    ])
    expect([room.permit().canAdmit(0), room.permit().canAdmit(1)]).toEqual([true, false])
    first.release()
    expect([second.reserve(100), second.reserve(1_000)]).toEqual([true, true])
  })

  it("has some for one alone, however large", () => {
    const room = roomWith(() => true)
    expect(room.permit().canAdmit(1_000)).toBe(true)
    const place = waiting(room, 1_000)
    expect(place.reserve(1_000)).toBe(true)
    expect(room.permit().canAdmit(0)).toBe(false)
    place.release()
    place.release()
    expect(room.permit().canAdmit(1_000)).toBe(true)
  })

  it("has none where those who come would wait in vain", () => {
    let isBehind = false
    const room = roomWith(() => isBehind)
    waiting(room, 1)
    expect(room.permit().canAdmit(1)).toBe(true)
    isBehind = true
    expect([room.permit().canAdmit(1), room.permit().enqueue()]).toEqual([false, false])
  })

  it("asks nobody twice who has come already", () => {
    const room = roomWith()
    const place = waiting(room, 90)
    expect([place.canAdmit(90), place.enqueue()]).toEqual([true, true])
    place.release()
    expect(waiting(room, 100).canAdmit(1)).toBe(true)
  })
})
