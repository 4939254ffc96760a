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

it("are read in the order in which a post told them, and each post again has the same", () => {
  const at = 1_795_883_808_278.5
  const told = ["system", "user", "assistant", "tool", "assistant", "tool", "user"].map((name) => log(name, at))
  const names = (all: ReadonlyArray<Parts.Told>) =>
    all.map((each, place) => Parts.of(each, Parts.textOf(each), place).part)
  const parts = names([...told, log("earlier", at - 1)])
  expect(parts.toSorted()).toEqual([parts.at(-1), ...parts.slice(0, -1)])
  expect(names(told)).toEqual(parts.slice(0, -1))
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
  expect(Parts.toldIn(Parts.of(told, text, 0))).toEqual(told)
  expect(text).not.toMatch(/abab|cdcd/)
  const masked = Parts.toldIn(Parts.of(told, text.replace(String(2n ** 62n), "[redacted]"), 0)) as typeof told
  expect(masked.log.attributes.get("n")).toBe("-[redacted]")
})
