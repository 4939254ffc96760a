import { expect, it } from "vitest"
import { sessionSeed } from "../src/SessionSeed.ts"

const messages = (count: number) => Array.from({ length: count }, () => ({ role: "assistant", content: "On it." }))

it("names a conversation in which no user says anything by its first messages only", () => {
  const seeds = [99, 100, 101, 5_000].map((count) =>
    sessionSeed("provider1-chat-completions", { messages: messages(count) })
  )
  expect(new Set(seeds.slice(1)).size).toBe(1)
  expect(seeds[0]).not.toBe(seeds[1])
})
