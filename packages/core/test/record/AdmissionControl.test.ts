import { describe, expect, it } from "vitest"
import { defaultWriterLimits } from "../../src/record/GroupCommit.ts"
import { Room } from "../../src/record/AdmissionControl.ts"

const { queue } = defaultWriterLimits
const limits = { ...defaultWriterLimits, queue: { ...queue, events: 2, bytes: 100 }, bodies: 150 }

const roomWith = (isBehind = () => false) => new Room(limits, isBehind)

/** A body of so many bytes has come whole. */
const waiting = (room: Room, bytes: number) => {
  const place = room.enter()
  expect([place.hold(bytes), place.wait()]).toEqual([true, true])
  return place
}

describe("Room", () => {
  it("has some for so many events as may wait, and for one more when one has gone", () => {
    const room = roomWith()
    const first = waiting(room, 1)
    expect(room.enter().mayCome(1)).toBe(true)
    waiting(room, 1)
    expect(room.enter().mayCome(1)).toBe(false)
    expect(room.enter().wait()).toBe(false)
    first.leave()
    expect(room.enter().mayCome(1)).toBe(true)
  })

  it("has some for so many bytes as may wait", () => {
    const room = roomWith()
    waiting(room, 60)
    expect([room.enter().mayCome(40), room.enter().mayCome(41)]).toEqual([true, false])
    const late = room.enter()
    expect([late.hold(41), late.wait()]).toEqual([true, false])
  })

  it("has some for so many bytes as are held, of bodies that have yet to come whole, too", () => {
    const room = roomWith()
    const first = room.enter()
    const second = room.enter()
    expect([first.hold(100), second.hold(50), second.hold(1), first.hold(1)]).toEqual([true, true, false, false])
    expect([room.enter().mayCome(0), room.enter().mayCome(1)]).toEqual([true, false])
    first.leave()
    expect([second.hold(100), second.hold(1_000)]).toEqual([true, true])
  })

  it("has some for one alone, however large", () => {
    const room = roomWith(() => true)
    expect(room.enter().mayCome(1_000)).toBe(true)
    const place = waiting(room, 1_000)
    expect(place.hold(1_000)).toBe(true)
    expect(room.enter().mayCome(0)).toBe(false)
    place.leave()
    place.leave()
    expect(room.enter().mayCome(1_000)).toBe(true)
  })

  it("has none where those who come would wait in vain", () => {
    let isBehind = false
    const room = roomWith(() => isBehind)
    waiting(room, 1)
    expect(room.enter().mayCome(1)).toBe(true)
    isBehind = true
    expect([room.enter().mayCome(1), room.enter().wait()]).toEqual([false, false])
  })

  it("asks nobody twice who has come already", () => {
    const room = roomWith()
    const place = waiting(room, 90)
    expect([place.mayCome(90), place.wait()]).toEqual([true, true])
    place.leave()
    expect(waiting(room, 100).mayCome(1)).toBe(true)
  })
})
