/** Stores that earlier versions wrote, opened by every command. */
import { HttpClient } from "@tachograph/testkit"
import { createHash } from "node:crypto"
import { copyFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { tachograph } from "../src/Commands.ts"
import { runInProcess, serveInProcess, startInProcess } from "./CommandLine.ts"
import { contentOf, copyOf, type Kept, names } from "./KeptStore.ts"

type Command = typeof tachograph

/** The names of all commands that do something: `keys create`. */
const leaves = ({ subcommands }: { readonly subcommands: Command["subcommands"] }, path = ""): ReadonlyArray<string> =>
  subcommands
    .flatMap(({ commands }) => commands)
    .flatMap((command) => {
      const own = `${path}${command.name}`
      return command.subcommands.length === 0 ? [own] : leaves(command, `${own} `)
    })

interface Case {
  /** Arguments after the name of the command and `--storage`. */
  readonly args?: (folder: string) => ReadonlyArray<string>
  /** Where `--storage` is not an option. */
  readonly ownStorage?: boolean
  readonly prints: RegExp
}

const session = "session-openai-responses"

/** What each command says of a store, in the order in which they run. `serve` and `tail` go on until they are stopped. */
const cases: Readonly<Record<string, Case>> = {
  migrate: { prints: /^(The tables are up to date|Ran \d{4}_)/ },
  doctor: { prints: /^ok +tables /m },
  sessions: { prints: new RegExp(`${session} .*Question 0: where is refund 470\\? Grüße 🙂`) },
  show: { args: () => [session], prints: /Question 4: where is refund 474\?/ },
  calls: { args: () => ["--errors"], prints: / failed .*rate_limit_error: slow down/ },
  failures: { prints: /rate_limit_error.* slow down/ },
  search: { args: () => ["refund 473"], prints: new RegExp(session) },
  usage: { args: () => ["--by", "agent"], prints: /^support +7 +14 /m },
  compare: { args: () => ["support", "v1", "v2"], prints: /instructions/ },
  diff: { args: () => [session, session], prints: new RegExp(session) },
  storage: { prints: /^project +other project +1 /m },
  verify: { prints: /^Verified 38 events .* 2 projects: nothing is wrong$/m },
  reindex: { prints: /^other project .* 1$/m },
  "keys list": { prints: /^key_\w+ +default +reads +read +valid until /m },
  "keys create": { args: () => ["--name", "new"], prints: /^tg_/ },
  audit: { prints: /key-created +command +key_/ },
  "keys revoke": { args: () => ["key_none"], prints: /There is no key/ },
  export: { args: (folder) => ["--output", join(folder, "all.ndjson")], prints: /^Exported 37 events/ },
  import: { args: (folder) => [join(folder, "all.ndjson")], prints: /imported 0 lines/ },
  copy: {
    args: (folder) => [`sqlite:${join(folder, "tachograph.db")}`, `sqlite:${join(folder, "copy.db")}`],
    ownStorage: true,
    prints: /^37 events/
  },
  backup: { args: (folder) => [join(folder, "backup.db")], prints: /^Backed up / },
  restore: { args: (folder) => [join(folder, "backup.db")], prints: /^Restored / },
  people: { prints: /^ann +\d{4}-/m },
  agents: { args: () => ["support"], prints: /^v1 +\d{4}-/m },
  "delete event": { args: () => ["01900000-0000-7000-8000-000000000000", "--yes"], prints: /There is no such event/ },
  "delete session": { args: () => [session, "--yes"], prints: /^Erased 5 events, 1 session and / },
  "delete person": { args: () => ["nobody", "--yes"], prints: /There is no such person/ }
}

const runCase = async (name: string, { folder, storage }: ReturnType<typeof copyOf>) => {
  const { args, ownStorage = false } = cases[name]!
  const own = args?.(folder) ?? []
  const { stderr, stdout } = await runInProcess([
    ...name.split(" "),
    ...(ownStorage ? [] : ["--storage", storage]),
    ...own
  ])
  return stdout + stderr
}

/** Fields of usage that these stores do not say. */
const newFields = new Set(["cost_usd_per_session", "last_event_at", "sessions", "unpriced_sessions"])

const withoutNew = (group: object) => Object.fromEntries(Object.entries(group).filter(([name]) => !newFields.has(name)))

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

describe.each(names)("a store made by %s", (name) => {
  const content = contentOf(name)

  it("is opened by every command, or they say that it is to be migrated first", async () => {
    expect(leaves(tachograph).toSorted()).toEqual([...Object.keys(cases), "serve", "tail"].toSorted())
    // It only reads.
    const isBehind = (await runCase("keys list", copyOf(name))).includes("tachograph migrate")
    if (name !== names.at(-1)) expect(isBehind).toBe(true)
    for (const [command, { prints }] of isBehind ? Object.entries(cases) : []) {
      const own = copyOf(name)
      // What `import` and `restore` read.
      writeFileSync(join(own.folder, "all.ndjson"), "")
      copyFileSync(own.file, join(own.folder, "backup.db"))
      if (command === "backup") rmSync(join(own.folder, "backup.db"))
      const printed = await runCase(command, own)
      if (!printed.includes("run `tachograph migrate` first"))
        expect([command, printed]).toEqual([command, expect.stringMatching(prints)])
    }
    const store = copyOf(name)
    for (const [command, { prints }] of Object.entries(cases)) {
      expect([command, await runCase(command, store)]).toEqual([command, expect.stringMatching(prints)])
    }
  })

  it("is served with its keys, and each text is what was sent", async () => {
    const { storage } = copyOf(name)
    const url = await serveInProcess(["--storage", storage, "--thread", "no"], "1 minute")
    const clients = Object.fromEntries(
      Object.entries(content.keys).map(([name, key]) => [name, HttpClient.open(url, key)])
    ) as Record<keyof Kept["keys"], HttpClient.Client>
    expect((await clients.revoked.get("/api/v1/me")).status).toBe(401)
    for (const line of content.events) {
      const [id, session, inputs, output] = line.split(" ")
      const { get } = session === "theirs" ? clients.other : clients.reader
      const texts = await Promise.all(["inputs", "output"].map((text) => get(`/api/v1/events/${id}/${text}`)))
      expect([line, ...texts.map(({ bytes }) => sha256(bytes))]).toEqual([line, inputs, output])
    }
    for (const [group, usage] of Object.entries(content.usage ?? {})) {
      const { body } = await clients.reader.get(`/api/v1/usage?group_by=${group}`)
      expect([group, body.usage.map(withoutNew)]).toEqual([group, usage])
    }
    const receivedOn = new Date(Number.parseInt(content.events[0]!.replace("-", "").slice(0, 12), 16))
      .toISOString()
      .slice(0, 10)
    // Its calls took place months before they were received, but for two that do not say when.
    const days = (await clients.reader.get("/api/v1/usage?group_by=day")).body.usage
    expect(days).toMatchObject([
      { day: "2026-01-02", events: 35 },
      { day: receivedOn, events: 2 }
    ])
    const ofDay = "after=2026-01-02T03:04:05.678Z&before=2026-01-02T03:04:05.679Z&limit=100"
    expect((await clients.reader.get(`/api/v1/events?${ofDay}`)).body.events).toHaveLength(35)
    const erased = await clients.reader.get("/api/v1/sessions/erased")
    expect(erased.status).toBe(404)
    const { next_cursor: cursor } = (await clients.admin.get("/api/v1/events/stream?wait=0")).body
    const before = (await clients.admin.get("/api/v1/events?limit=1")).body.events[0]
    const properties = { api: "aisdk", inputs: { messages: [{ role: "user", content: "Again" }] }, output: {} }
    const event = { event_name: "llm", fingerprint_id: before.fingerprint_id, session, properties }
    const { event_id: id } = (await clients.admin.post("/api/v1/events", event)).body

    const tail = startInProcess(["tail", "--storage", storage, "--cursor", cursor, "--json"])
    const tailed = await vi.waitFor(() => JSON.parse(tail.output().stdout.split("\n")[0]!), { timeout: 60_000 })
    expect(tailed.event_id).toBe(id)
  })
})
