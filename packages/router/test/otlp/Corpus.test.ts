/** Posts of real instrumentation make the sessions that their programs had. What each leaves out is in the table. */
import { MemoryStorage } from "@tachograph/core"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { expect, it, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"

const folder = fileURLToPath(new URL("../../../../../shared/otlp/", import.meta.url))
const areThere = existsSync(folder)

const key = "a key of twenty characters"
const headers = { authorization: `Bearer ${key}` }

/** What each case really was. The coding agents had others. */
const cases = {
  a: { session: "conv-a-7f31", person: "user-17", agent: "weather-bot", version: "1.2.0" },
  b: { session: "conv-b-90c2", person: "user-42", agent: "refund-bot", version: "2.0.1" },
  c: { session: "conv-c-13aa", person: "user-17", agent: "weather-bot", version: "1.2.0" }
} as const

type Names = { readonly [Name in "session" | "person" | "agent" | "version"]: unknown }

/** Where nothing names the session, its name is derived from the beginning of its conversation. */
const nowhere = { session: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown, person: null }

/** What is told otherwise than it was. */
const names: Readonly<Record<string, Partial<Names>>> = {
  "claude-code-otel": {
    session: "66666666-0000-4000-8000-00000000000a",
    person: "0".repeat(64),
    agent: "claude-code",
    version: "2.1.332"
  },
  "codex-otel": {
    session: "01a22302-a467-76c1-8ba2-13dba7f5f1b6",
    person: null,
    agent: "codex_exec",
    version: "0.171.0"
  },
  // The version of its service is that of Node.
  "gemini-cli-otel": {
    session: "545f38e5-c70d-4e1f-afbb-d7cb3332177d",
    person: null,
    agent: "gemini-cli",
    version: "default"
  },
  genkit: { ...nowhere, version: "default" },
  // Three conversations, of which nothing says that they are one session.
  "genkit c": { session: [nowhere.session, nowhere.session, nowhere.session] },
  "genkit-google": { ...nowhere, version: "default" },
  // That of the service, as none is told of the agent.
  "openinference-anthropic b": { version: "1.2.0" },
  // The version of its service is that of the SDK.
  sentry: { person: null, version: "default" },
  "sentry-anthropic": { person: null, version: "default" },
  "vercel7-default": { ...nowhere, version: "1.2.0" }
}

/** How many calls are told, where these are not those of the wire: failed and retried ones mostly are not. */
const callsTold: Readonly<Record<string, number>> = {
  // Its first posts were not kept.
  "codex-otel a": 1,
  "gemini-cli-otel a": 2,
  "genkit c": 4,
  "langfuse c": 3,
  // Only the program itself made spans.
  "openlit-anthropic b": 0,
  "openinference-openai c": 2,
  "openinference-openai-responses c": 2,
  "traceloop-openai b": 3,
  "traceloop-openai c": 2,
  "traceloop-openai-responses c": 3,
  "vercel5 c": 3,
  "vercel5-anthropic c": 3
}

interface Listed {
  readonly session: string
  readonly person: string | null
  readonly agent: string
  readonly agent_version: string
  readonly recorded: { readonly otlp?: { readonly span?: string } } | null
}

/** What the posts make: so many calls. */
const record = async (files: ReadonlyArray<string>, calls: number) => {
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, apiKeys: [key], otlpWaitMs: 3_000 })
  const get = async (path: string) => (await tachograph.fetch(new Request(`http://local${path}`, { headers }))).json()
  try {
    for (const file of files) {
      const type = file.endsWith(".bin") ? "application/x-protobuf" : "application/json"
      const url = `http://local/otlp/v1/${file.includes("-logs") ? "logs" : "traces"}`
      const init = { method: "POST", headers: { ...headers, "content-type": type }, body: readFileSync(file) }
      const answer = await tachograph.fetch(new Request(url, init))
      expect(answer.status).toBe(200)
      expect(["", "{}"]).toContain(await answer.text())
    }
    // Some wait for what may say more of them.
    return await vi.waitFor(
      async () => {
        const { events } = (await get("/api/v1/events?limit=1000")) as { readonly events: ReadonlyArray<Listed> }
        expect(events).toHaveLength(calls)
        return events
      },
      { timeout: 30_000, interval: 50 }
    )
  } finally {
    await tachograph.close()
  }
}

const distinct = (values: ReadonlyArray<unknown>) => {
  const found = Array.from(new Set(values))
  return found.length === 1 ? found[0] : found
}

const truthOf = (file: string) =>
  JSON.parse(gunzipSync(readFileSync(file)).toString()) as { readonly calls: ReadonlyArray<unknown> | string }

const runs = (areThere ? readdirSync(folder) : []).flatMap((emitter) => {
  const all = readdirSync(`${folder}${emitter}`)
  const posts = all.filter((file) => /-(?:traces|logs)\.(?:json|bin)$/.test(file))
  return Array.from(new Set(posts.map((file) => file.split("-", 2).join("-"))), (run) => ({
    run: `${emitter} ${run}`,
    files: posts.filter((file) => file.startsWith(`${run}-`)).map((file) => `${folder}${emitter}/${file}`),
    truth: `${folder}${emitter}/${run.replace("-proto", "-json")}.truth.json.gz`
  }))
})

it.skipIf(!areThere).concurrent.each(runs)("makes the sessions of $run", async ({ files, run, truth }) => {
  const [emitter, of] = run.split(/ |-(?:json|proto)$/) as [string, keyof typeof cases]
  const expected = { ...cases[of], ...names[emitter], ...names[`${emitter} ${of}`] }
  const made = callsTold[`${emitter} ${of}`] ?? truthOf(truth).calls.length
  const events = await record(files, made)
  if (made === 0) return
  expect({
    session: distinct(events.map(({ session }) => session)),
    person: distinct(events.map(({ person }) => person)),
    agent: distinct(events.map(({ agent }) => agent)),
    version: distinct(events.map(({ agent_version }) => agent_version))
  } satisfies Names).toEqual(expected)
  expect(events.map(({ recorded }) => recorded?.otlp?.span)).not.toContain(undefined)
})

it.skipIf(!areThere)("has posts of real instrumentation", () => expect(runs).not.toEqual([]))
