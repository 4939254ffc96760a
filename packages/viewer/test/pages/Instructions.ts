/** Instructions are one folded line of the stream, in every format, and show what changed in them. */
import { describe, expect, it, onTestFinished } from "vitest"
import { openWithKey } from "../Browser.ts"
import { registered } from "../Conversation.ts"
import { apiKey, start } from "../Server.ts"

const said = (role: string, content: unknown) => ({ role, content })
const user = (content: string) => said("user", content)

const talk = [user("Hello"), said("assistant", "Hi"), user("Bye")]

const turns = (key: string) =>
  talk.map(({ content, role }) => ({
    role: role === "user" ? role : "model",
    [key]: [{ ...(key === "content" ? { type: "text" } : {}), text: content }]
  }))

/** A call of each format with these instructions. */
const formats: Readonly<Record<string, (instructions: string) => object>> = {
  "provider1-chat-completions": (text) => ({ messages: [said("system", text), said("developer", "Go."), ...talk] }),
  "provider1-responses": (instructions) => ({ instructions, input: [said("developer", "Go."), ...talk] }),
  "provider2-messages": (system) => ({ system, messages: talk }),
  "provider2-beta-messages": (text) => ({ system: [{ type: "text", text }], messages: talk }),
  "provider3-models": (text) => ({ systemInstruction: { parts: [{ text }] }, contents: turns("parts") }),
  "provider3-interactions": (system_instruction) => ({ system_instruction, input: turns("content") }),
  aisdk: (text) => ({ messages: [said("system", text), ...talk] })
}

const recording = async () => {
  const server = await start()
  onTestFinished(() => server.close())
  const fingerprint_id = await registered(server.client)
  const record = async (session: string, api: string, inputs: object) => {
    const event = { event_name: "llm", fingerprint_id, session, properties: { api, inputs, output: {} } }
    expect((await server.client.post("/api/v1/events", event)).status).toBe(200)
  }
  return { server, record }
}

const prompt = `You work at the lighthouse. ${"Keep the lamp lit. ".repeat(60)}`

export const define = () => {
  describe("instructions", () => {
    it("are one line in each format, which opens, and says which words changed", async () => {
      const { record, server } = await recording()
      for (const [api, inputsOf] of Object.entries(formats)) {
        for (const last of ["Be short.", "Be short.", "Be kind."]) await record(api, api, inputsOf(prompt + last))
      }
      const { page } = await openWithKey(`${server.url}/viewer/#/sessions`, apiKey)
      for (const api of Object.keys(formats)) {
        await page.goto(`${server.url}/viewer/#/sessions/${api}`)
        const lines = page.locator("details.instructions")
        await expect.poll(() => lines.count()).toBe(2)
        const characters = api.startsWith("provider1") ? "1,180" : "1,177"
        expect([api, await lines.first().innerText()]).toEqual([
          api,
          expect.stringMatching(new RegExp(`^Instructions\\s+${characters} characters$`))
        ])
        expect([api, await lines.last().innerText()]).toEqual([
          api,
          expect.stringMatching(/^Instructions\s+changed\s+1,1\d\d characters$/)
        ])
        // They are not among what was said.
        expect([api, await page.locator(".message .role").allInnerTexts()]).toEqual([
          api,
          expect.not.arrayContaining([expect.stringMatching(/system|developer/)])
        ])
        await lines.first().locator("summary").click()
        await lines.first().getByText("Be short.").waitFor()
        await lines.last().locator("summary").first().click()
        await lines.last().locator("del").getByText("short").waitFor()
        await lines.last().locator("ins").getByText("kind").waitFor()
      }
    })

    it("of coding agents, among the messages, are one line each, beside the words of the user", async () => {
      const { record, server } = await recording()
      const reminder = `<system-reminder>\n${prompt}\n</system-reminder>\n`
      const content = [reminder, "List the files"].map((text) => ({ type: "text", text }))
      const messages = [said("user", content), said("system", "# Environment"), user("<question>Why?</question>")]
      await record("claude", "provider2-messages", { messages })
      const { page } = await openWithKey(`${server.url}/viewer/#/sessions/claude`, apiKey)
      await page.locator(".said").getByText("List the files").waitFor()
      const lines = page.locator("details.instructions")
      await expect.poll(() => lines.count()).toBe(2)
      expect(await page.getByText("Keep the lamp lit.").count()).toBe(1)
      expect((await lines.first().innerText()).replaceAll(/\s+/g, " ")).toMatch(
        /^Instructions <system-reminder> You work .*… 1,2\d\d characters$/
      )
      await page.getByText("<question>Why?</question>").waitFor()
      await lines.last().locator("summary").click()
      await lines.last().locator(".fold").getByText("Environment").waitFor()
    })

    it("that are messages are found by their words, and opened", async () => {
      const { record, server } = await recording()
      await record("found", "provider1-chat-completions", {
        messages: [said("system", `${prompt}Mind the fog.`), user("Hi")]
      })
      const { page } = await openWithKey(`${server.url}/viewer/#/sessions/found`, apiKey)
      await page.locator("details.instructions").waitFor()
      await page.keyboard.press("/")
      await page.keyboard.type("the fog")
      await page.locator("details.instructions[open]").getByText("Mind the fog.").waitFor()
    })
  })
}
