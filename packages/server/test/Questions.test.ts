import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { runInProcess, workIn } from "./CommandLine.ts"
import { serveAndRecordInProcess } from "./RecordingServer.ts"

/** The questions of the page, each with its commands. */
const questions = (): ReadonlyArray<readonly [question: string, commands: ReadonlyArray<string>]> => {
  const page = readFileSync(new URL("../../../docs/questions.md", import.meta.url), "utf8")
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [question, ...text] = section.split("\n")
      const [commands, ...more] = Array.from(text.join("\n").matchAll(/^```sh\n([^`]*)\n```$/gm), ([, lines]) => lines!)
      expect(more).toEqual([])
      return [question!, commands!.split("\n")]
    })
}

/** The words of a command line, with the quoted ones as one. */
const wordsOf = (command: string): ReadonlyArray<string> =>
  Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word!)

const answer = (content: string, finish_reason: string) => ({
  model: "gpt-4o",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason }],
  usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 }
})

const failed = { error: { type: "rate_limit_error", message: "slow down" } }

/** Records the calls that the page's questions are about, in a storage in a folder of their own. */
const recorded = async () => {
  const { cwd, record, server } = await serveAndRecordInProcess("record")
  const call = async (version: string, person: string, session: string, words: string, output: object) => {
    const instructions = { role: "system", content: `You help customers.\nBe ${version === "v1" ? "short" : "kind"}.` }
    const messages = [instructions, { role: "user", content: words }]
    const inputs = { model: "gpt-4o", temperature: version === "v1" ? 0 : 1, messages }
    const properties = { api: "provider1-chat-completions", inputs, output }
    const names = { session, person, agent: "support", agent_version: version }
    await record({ ...names, duration_ms: 1200, properties })
  }
  await call("v1", "ann", "order-4711", "Where is refund 4711?", answer("It is on its way.", "stop"))
  await call("v2", "bob", "order-4712", "Tell me a story.", answer("Once upon a", "length"))
  await call("v2", "bob", "order-4713", "Hello?", failed)
  await call("v2", "bob", "order-4713", "Hello?", answer("Hi.", "stop"))
  await server.stop()
  return { cwd }
}

/** What the answer to each question shows. */
const shown: Readonly<Record<string, ReadonlyArray<RegExp>>> = {
  "Which sessions were there today, and what did they cost?": [/^order-4711 .*\$0\.0026.*Where is refund 4711\?$/m],
  "What happened in one of them?": [/Where is refund 4711\?/, /It is on its way\./],
  "Which calls failed?": [/^[^\n]* order-4713 [^\n]*failed: rate_limit_error: slow down {2}[0-9a-f-]{36}\n$/],
  "How did they fail, and why?": [/rate_limit_error.*slow down/],
  "Which calls were tried again?": [/retried by call 2\n(?:.*\n)*.*retry of call 1\n/],
  "Which answers were cut off?": [/^[^\n]* order-4712 [^\n]*length {2}[0-9a-f-]{36}\n$/],
  "Which sessions cost most, and which calls were slowest?": [/^order-4711 .*\n(?:.*\n)*.*1\.2 s/m],
  "What does a session cost, by version?": [/^support +v1 +1 .*1\.2 s/m, /^support +v2 +2 +/m],
  "What did each model cost today?": [/^gpt-4o +3 +4 .*\$0\.0078/m],
  "Who used it most?": [/^ann +1 /m, /^bob +2 +3 /m],
  "What changed in the prompt?": [/^-.*Be short\.$/m, /^\+.*Be kind\.$/m, /temperature/],
  "How do two sessions differ?": [/^session +order-4711 +order-4712$/m, /^\[A 2, B 2\] user differs$/m],
  "Where was this said?": [/ order-4711 +user /, /Where is refund 4711\?/],
  "What is there of a person?": [],
  "How is a person erased, and who can see that it was done?": [
    /^Erased 1 event, 1 session and \d+ pieces? of payloads: /
  ],
  "Who erased what?": [/key-created +command/, /person-erased +command +1 /],
  "How do I take it all elsewhere?": []
}

describe("docs/questions.md", () => {
  it("answers each question by its command", async () => {
    const { cwd } = await recorded()
    // As the page runs them: beside the storage.
    workIn(cwd)
    const asked = questions()
    expect(asked.map(([question]) => question)).toEqual(Object.keys(shown))
    for (const [question, commands] of asked) {
      let printed = ""
      for (const command of commands) {
        const [program, ...args] = wordsOf(command)
        expect(program).toBe("tachograph")
        const { code, stderr, stdout } = await runInProcess(args)
        expect([command, code], stderr).toEqual([command, 0])
        printed += stdout
      }
      for (const pattern of shown[question]!) expect(printed, question).toMatch(pattern)
    }
    const exported = readFileSync(join(cwd, "ann.ndjson"), "utf8")
    expect(exported).toContain("refund 4711")
    expect(exported).not.toContain("order-4712")
    expect(existsSync(join(cwd, "elsewhere.db"))).toBe(true)
    const elsewhere = await runInProcess(["calls", "--json", "--storage", "sqlite:elsewhere.db"])
    expect(elsewhere.stdout.trimEnd().split("\n")).toHaveLength(3)
  })
})
