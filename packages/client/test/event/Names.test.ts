import { hash } from "node:crypto"
import { expect, it } from "vitest"
import { createRecorder } from "../../src/index.ts"
import { apiKey, startServer } from "../Server.ts"

const long = "é".repeat(300)
const cut = `${"é".repeat(190)}-${hash("sha256", long)}`

it.each<[string, unknown, string | undefined]>([
  ["an empty text is none", "", undefined],
  ["null is none", null, undefined],
  ["a long one is cut, with its hash", long, cut],
  ["255 characters are kept", "😀".repeat(255), "😀".repeat(255)],
  ["a number is a text", 17, "17"],
  ["U+0000 is replaced", "a\0b", "a\uFFFDb"],
  ["an empty list is none", [], undefined],
  ["a list of an empty text is none", [""], undefined],
  ["what has no text is none", Object.create(null), undefined],
  ["a symbol is a text", Symbol("a"), "Symbol(a)"],
  ["half a surrogate pair is replaced", "a\uD800", "a\uFFFD"],
  ["dots that no URL can hold are replaced", "..", "\uFFFD\uFFFD"],
  ["other dots are kept", "...", "..."]
])("records a call whatever its names are: %s", async (_, given, expected) => {
  const server = await startServer()
  const recorder = createRecorder({ url: server.url, apiKey })
  const names = { session: given, agent: given, agentVersion: given, person: given } as { session: string }
  recorder.with(names, () => recorder.record({ api: "aisdk", inputs: {}, output: {} }))
  expect(await recorder.flush()).toBe(true)
  expect(recorder.counters()).toMatchObject({ sent: 1, dropped: {} })
  const [event] = await server.events()
  expect(event!.session).toEqual(expected ?? expect.stringMatching(/^[\da-f]{64}$/))
  expect([event!.agent, event!.agent_version]).toEqual(Array(2).fill(expected ?? "default"))
  expect(event!.person).toBe(expected ?? null)
})
