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

it("names no other conversation by the line of Claude Code with a nonce", () => {
  const seedOf = (nonce: string, prompt: string) =>
    sessionSeed("provider2-messages", {
      system: `x-anthropic-billing-header: cch=${nonce};\n${prompt}`,
      messages: [{ role: "user", content: "fix it" }]
    })
  expect(seedOf("36ee5", "Be careful.")).toBe(seedOf("0aaa9", "Be careful."))
  expect(seedOf("36ee5", "Be careful.")).not.toBe(seedOf("36ee5", "Be hasty."))
})
