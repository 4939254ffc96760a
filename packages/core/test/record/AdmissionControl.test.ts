import { describe, expect, it } from "vitest"
import { defaultProject, ProjectId } from "../../src/domain/Project.ts"
import { AdmissionControl } from "../../src/record/AdmissionControl.ts"
import { defaultCommitLimits } from "../../src/record/CommitLimits.ts"

const project = defaultProject

const { queue } = defaultCommitLimits
const limits = {
  ...defaultCommitLimits,
  queue: { ...queue, events: 2, bytes: 100 },
  bodyBudgetBytes: 150,
  answerBudgetBytes: 120
}

const admissionControl = (capacity = () => Infinity) => new AdmissionControl(limits, capacity)

/** A permit for an event whose body of this many bytes is complete. */
const enqueued = (admission: AdmissionControl, bytes: number) => {
  const permit = admission.permit()
  expect([permit.reserve(bytes), permit.enqueue()]).toEqual([true, true])
  return permit
}

describe("AdmissionControl", () => {
  it("admits as many events as the queue holds, and one more when one is released", () => {
    const admission = admissionControl()
    const first = enqueued(admission, 1)
    expect(admission.canAdmit(1)).toBe(true)
    enqueued(admission, 1)
    expect(admission.canAdmit(1)).toBe(false)
    expect(admission.permit().enqueue()).toBe(false)
    first.release()
    expect(admission.canAdmit(1)).toBe(true)
  })

  it("admits as many bytes as the queue holds", () => {
    const admission = admissionControl()
    enqueued(admission, 60)
    expect([admission.canAdmit(40), admission.canAdmit(41)]).toEqual([true, false])
    const late = admission.permit()
    expect([late.reserve(41), late.enqueue()]).toEqual([true, false])
  })

  it("bounds the bytes of all bodies, incomplete ones included", () => {
    const admission = admissionControl()
    const first = admission.permit()
    const second = admission.permit()
    const reserved = [first.reserve(100), second.reserve(50), second.reserve(1), first.reserve(1)]
    expect(reserved).toEqual([true, true, false, false])
    expect([admission.canAdmit(0), admission.canAdmit(1)]).toEqual([true, false])
    first.release()
    expect([second.reserve(100), second.reserve(1_000)]).toEqual([true, true])
  })

  it("admits one request alone, whatever its size", () => {
    const admission = admissionControl(() => 0)
    expect(admission.canAdmit(1_000)).toBe(true)
    const permit = enqueued(admission, 1_000)
    expect(permit.reserve(1_000)).toBe(true)
    expect(admission.canAdmit(0)).toBe(false)
    permit.release()
    permit.release()
    expect(admission.canAdmit(1_000)).toBe(true)
  })

  it("bounds the bytes of all answers, and admits one answer alone, whatever its size", () => {
    const admission = admissionControl()
    const [first, second] = [admission.permit(), admission.permit()]
    expect([first.reserveAnswer(100), second.reserveAnswer(20), second.reserveAnswer(21)]).toEqual([true, true, false])
    expect(admission.answerBytes).toBe(120)
    first.release()
    expect(admission.answerBytes).toBe(20)
    expect([second.reserveAnswer(1_000), admission.permit().reserveAnswer(1)]).toEqual([true, false])
    second.release()
    second.release()
    expect([admission.answerBytes, second.reserveAnswer(1)]).toEqual([0, false])
  })

  it("counts the greatest size that is reserved for an answer", () => {
    const admission = admissionControl()
    const permit = admission.permit()
    expect([50, 60, 40].map((bytes) => permit.reserveAnswer(bytes))).toEqual([true, true, true])
    expect(admission.answerBytes).toBe(60)
  })

  it("keeps answers from taking the place of bodies, and bodies from taking that of answers", () => {
    const admission = admissionControl()
    expect(admission.permit().reserveAnswer(1_000)).toBe(true)
    expect([admission.canAdmit(1_000), admission.permit().reserve(1_000)]).toEqual([true, true])
    expect(admission.permit().reserveAnswer(1)).toBe(false)
    const other = admissionControl()
    enqueued(other, 1_000)
    expect(other.permit().reserveAnswer(1_000)).toBe(true)
  })

  it("counts answers that are made while they are taken apart from others, 256 KiB each, and always admits one", () => {
    const one = new AdmissionControl({ ...limits, streamBudgetBytes: 1 }, () => Infinity)
    expect([one.permit().openStream(project), one.permit().openStream(project), one.streams]).toEqual([true, false, 1])
    const admission = new AdmissionControl({ ...limits, streamBudgetBytes: 512 * 1024 }, () => Infinity)
    const permit = admission.permit()
    expect([permit.openStream(project), permit.openStream(project), admission.streams]).toEqual([true, true, 1])
    expect([permit.reserveAnswer(1_000), admission.permit().reserveAnswer(1)]).toEqual([true, false])
    permit.releaseAnswer()
    expect([admission.answerBytes, admission.streams, admission.permit().reserveAnswer(1)]).toEqual([0, 1, true])
    const other = ProjectId.make("another one")
    expect([admission.permit().openStream(other), admission.permit().openStream(other)]).toEqual([true, false])
    permit.release()
    expect([permit.openStream(project), admission.streams]).toEqual([false, 1])
  })

  it("gives one project at most three quarters of them", () => {
    const admission = new AdmissionControl(defaultCommitLimits, () => Infinity)
    const permits = Array.from({ length: 97 }, () => admission.permit())
    expect(permits.map((permit) => permit.openStream(project))).toEqual([...Array(96).fill(true), false])
    const other = ProjectId.make("another one")
    const others = Array.from({ length: 33 }, () => admission.permit().openStream(other))
    expect(others).toEqual([...Array(32).fill(true), false])
    permits[0]!.release()
    expect([permits[96]!.openStream(project), admission.streams]).toEqual([true, 128])
  })

  it("admits as many events as can be committed in time", () => {
    let capacity = 2
    const admission = admissionControl(() => capacity)
    enqueued(admission, 1)
    expect(admission.canAdmit(1)).toBe(true)
    capacity = 1
    expect([admission.canAdmit(1), admission.permit().enqueue()]).toEqual([false, false])
  })

  it("reserves and enqueues nothing with a released permit", () => {
    const admission = admissionControl()
    const permit = admission.permit()
    permit.release()
    expect([permit.reserve(1), permit.enqueue()]).toEqual([false, false])
    expect(admission.queued).toEqual({ events: 0, bytes: 0 })
    expect(admission.permit().reserve(1_000)).toBe(true)
  })

  it("counts an event once, however often its permit is enqueued", () => {
    const admission = admissionControl()
    const permit = enqueued(admission, 90)
    expect(permit.enqueue()).toBe(true)
    expect(admission.queued).toEqual({ events: 1, bytes: 90 })
    permit.release()
    expect(admission.queued).toEqual({ events: 0, bytes: 0 })
  })
})
