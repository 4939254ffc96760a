import { expect, it } from "vitest"
import { groupingOf, recordedOf } from "../src/Grouping.ts"

const said = { agent: "claude-code", version: "2.1", session: "s1", subagent: "a7" }

const names = { agent: "claude-code", agent_version: "2.1", subagent: "a7" }

it("takes names as they are given, else as the program says", () => {
  expect(groupingOf({}, said)).toEqual({ ...names, session: "s1", person: undefined })
  expect(groupingOf({ session: "s2", agent: "", person: "p" }, said)).toEqual({ ...names, session: "s2", person: "p" })
})

it("takes no version of a program for that of an agent with another name", () => {
  expect(groupingOf({ agent: "mine" }, said).agent_version).toBeUndefined()
  expect(groupingOf({ agent: "mine", agent_version: "7" }, said).agent_version).toBe("7")
})

it("cuts names, and leaves out what none may have", () => {
  expect(groupingOf({ session: "a\0b" }, {}, (name) => name.slice(0, 2)).session).toBe("a\uFFFD")
})

it("says how a call was recorded, where there is anything to say", () => {
  expect(recordedOf(0, undefined, undefined)).toBeUndefined()
  expect(recordedOf(2, "a7", { rebuilt: true })).toEqual({ redacted: 2, subagent: "a7", rebuilt: true })
})
