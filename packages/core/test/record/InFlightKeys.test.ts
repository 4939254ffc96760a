import { expect, it } from "vitest"
import { ProjectId } from "../../src/domain/Project.ts"
import { InFlightKeys } from "../../src/record/InFlightKeys.ts"

const one = { project: ProjectId.make("one"), session: "s" }
const two = { project: ProjectId.make("two"), session: "s" }
const other = { project: ProjectId.make("one"), session: "t" }

it("starts one job for a key of a session, until the key is released", () => {
  const keys = new InFlightKeys<number>()
  let started = 0
  const start = () => ++started
  expect(keys.claim(one, "k", start)).toEqual({ job: 1, isFirst: true })
  expect(keys.claim(one, "k", start)).toEqual({ job: 1, isFirst: false })
  expect(keys.claim(two, "k", start)).toEqual({ job: 2, isFirst: true })
  expect(keys.claim(other, "k", start)).toEqual({ job: 3, isFirst: true })
  expect(keys.claim(one, "l", start)).toEqual({ job: 4, isFirst: true })
  keys.release(one, "k")
  expect(keys.claim(one, "k", start)).toEqual({ job: 5, isFirst: true })
  expect(keys.claim(two, "k", start)).toEqual({ job: 2, isFirst: false })
  expect(keys.claim(other, "k", start)).toEqual({ job: 3, isFirst: false })
})
