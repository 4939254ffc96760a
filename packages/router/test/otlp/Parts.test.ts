import type { LogRecord } from "@tachograph/capture/spans/Span"
import { expect, it } from "vitest"
import * as Parts from "../../src/otlp/Parts.ts"

const log = (name: string, timeMs: number): Parts.Told => ({
  log: {
    ...{ traceId: "ab".repeat(16), spanId: "cd".repeat(8), scope: { name: "s", version: "" }, resource: new Map() },
    ...({ attributes: new Map(), droppedAttributes: 0, body: null } satisfies Partial<LogRecord>),
    ...{ name, timeMs }
  }
})

it("have the same names again, but equal ones of a post, and the order in which they were told", () => {
  const told = ["system", "user", "user"].map((name) => log(name, 7))
  const parts = told.map((each, order) => Parts.of(each, Parts.textOf(each), order === 2 ? 1 : 0, order))
  expect(new Set(parts.map(({ part }) => part)).size).toBe(3)
  expect(parts.map((part) => Parts.toldIn(part).order)).toEqual([0, 1, 2])
  expect(Parts.of(told[1]!, Parts.textOf(told[1]!), 0, 9).part).toBe(parts[1]!.part)
})

it("are read as they were told, whatever names values have, and their ids are in no text that patterns look through", () => {
  const value = {
    "map of attributes": 5,
    "integer of 64 bits": { "object of entries": [["a", 2n ** 63n]], __proto__: null },
    __proto__: null
  }
  const told = {
    log: {
      ...(log("gen_ai.choice", 7) as { log: LogRecord }).log,
      body: value,
      attributes: new Map([["n", -(2n ** 62n)]])
    }
  }
  const text = Parts.textOf(told)
  expect(Parts.toldIn(Parts.of(told, text, 0, 3))).toEqual({ told, order: 3 })
  expect(text).not.toMatch(/abab|cdcd/)
  const part = Parts.of(told, text.replace(String(2n ** 62n), "[redacted]"), 0, 0)
  const masked = Parts.toldIn(part).told as typeof told
  expect(masked.log.attributes.get("n")).toBe("-[redacted]")
})
