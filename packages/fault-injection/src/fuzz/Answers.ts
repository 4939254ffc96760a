/**
 * `answers`: flips a bit of a SQLite file in each round, or overwrites a page with zeros, and sends every kind of read. Each is answered
 * as before the damage, or with a typed error.
 */
import { derive, Storage, Throttle } from "@tachograph/core"
import { createTachograph, type Tachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { closeSync, openSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as Random from "../harness/Random.ts"
import type { DamageStore } from "./DamageStore.ts"
import * as DamagePlan from "./DamagePlan.ts"
import * as Flip from "./Flip.ts"
import { Tally } from "./Tally.ts"

export interface Options {
  readonly seed: number
  /** The first round, from 1. */
  readonly from: number
  readonly rounds: number
  /** Called before each round. */
  readonly progress: (round: number, tally: Tally) => void
}

/** The counts that the table has. */
export const counted = [
  "rounds",
  "refused files",
  "reads",
  "as before",
  "typed errors",
  "marked as damaged",
  "not found",
  "other answers"
]

const key = "a-key-of-at-least-20-characters"

interface Answer {
  readonly status: number
  readonly text: string
}

/** By their paths. */
type Answers = ReadonlyMap<string, Answer>

const ask = async (tachograph: Tachograph, path: string): Promise<Answer> => {
  const request = new Request(`http://127.0.0.1${path}`, { headers: { authorization: `Bearer ${key}` } })
  const response = await tachograph.fetch(request)
  try {
    return { status: response.status, text: await response.text() }
  } catch {
    // An answer that cannot be completed is cut, as every client sees.
    return { status: 0, text: "cut" }
  }
}

const usages = [
  "",
  "day",
  "hour",
  "agent",
  "agent_version",
  "api",
  "model",
  "person",
  "session",
  "person,day",
  "session,model"
].map((groups) => `/api/v1/usage${groups === "" ? "" : `?group_by=${groups}`}`)

const lists = [
  "/api/v1/events?limit=20",
  "/api/v1/events?limit=20&order=asc",
  "/api/v1/events?limit=20&error=false",
  "/api/v1/agents",
  "/api/v1/people",
  "/api/v1/sessions",
  "/api/v1/sessions?order=asc&limit=3",
  "/api/v1/storage?sessions=10",
  "/api/v1/search?q=answer",
  "/api/v1/search?q=planted",
  "/api/v1/me",
  ...usages
]

/** One of each kind of read, for names and ids that there are. */
const pathsOf = async (tachograph: Tachograph, plan: DamagePlan.Plan, known: ReadonlyArray<DamagePlan.Known>) => {
  const named = (kind: string, names: ReadonlyArray<string>, rest: ReadonlyArray<string> = [""]) =>
    names.flatMap((name) => rest.map((each) => `/api/v1/${kind}/${encodeURIComponent(name)}${each}`))
  const { agents } = JSON.parse((await ask(tachograph, "/api/v1/agents")).text) as {
    agents: ReadonlyArray<{ agent_name: string }>
  }
  const own = known.filter(({ project }) => project === plan.conversations[0]!.project)
  const sessions = Array.from(new Set(own.map(({ call }) => call.session)))
  const agentNames = (agents ?? []).map(({ agent_name }) => agent_name)
  const paths = [
    ...lists,
    ...named("sessions", sessions, ["", "/messages", "/calls"]),
    ...named("people", plan.people),
    ...named("agents", agentNames, ["", "/agent-versions"]),
    ...named(
      "events",
      own.filter((_, n) => n % 6 === 0).map(({ id }) => id),
      ["", "/messages", "/inputs", "/output"]
    ),
    ...sessions.map((session) => `/api/v1/events?session=${encodeURIComponent(session)}`),
    ...plan.people.flatMap((person) => [
      `/api/v1/events?person=${encodeURIComponent(person)}`,
      `/api/v1/sessions?person=${encodeURIComponent(person)}`,
      `/api/v1/usage?group_by=model&person=${encodeURIComponent(person)}`
    ]),
    ...agentNames.flatMap((agent) => [
      `/api/v1/events?agent=${encodeURIComponent(agent)}`,
      `/api/v1/usage?group_by=day&agent=${encodeURIComponent(agent)}`
    ])
  ]
  return paths
}

/** What differs with every request. */
const ofAnswer = ({ status, text }: Answer): string => `${status} ${text.replaceAll(/"exported_at":"[^"]*"/g, "")}`

const open = (file: string) => createTachograph({ storage: sqlite(file), apiKeys: [key], thread: false, viewer: false })

interface Damaged {
  readonly text: string
  /** The table or the index that the page belongs to. */
  readonly place: string
}

const damage = (file: string, random: Random.Random): Damaged => {
  const database = new DatabaseSync(file)
  const pages = database.prepare("SELECT pageno, name FROM dbstat").all() as unknown as ReadonlyArray<{
    readonly pageno: number
    readonly name: string
  }>
  const [{ page_size }] = database.prepare("PRAGMA page_size").all() as [{ page_size: number }]
  database.close()
  const nameOf = (page: number) => pages.find(({ pageno }) => pageno === page)?.name ?? "unused pages"
  if (random(0, 1) === 0) {
    const { at, text } = Flip.inFile(file, random)
    return { text: `a flip in ${text}`, place: nameOf(Math.floor(at / page_size) + 1) }
  }
  const { name, pageno } = pages[random(0, pages.length - 1)]!
  const descriptor = openSync(file, "r+")
  writeSync(descriptor, Buffer.alloc(page_size), 0, page_size, (pageno - 1) * page_size)
  closeSync(descriptor)
  return { text: `zeros in page ${pageno}`, place: name }
}

const kindOf = (path: string) =>
  path
    .replace(/^\/api\/v1/, "")
    .replace(/\/(sessions|people|agents|fingerprints|events)\/[^/?]+/, "/$1/…")
    .replaceAll(/=[^&]*/g, "")

/**
 * Whether an answer says itself that something is damaged: of a call, a message, or the events of a search, or by having no title. The
 * messages of a damaged call are missing, and the numbers of others differ then.
 */
const isMarked = (before: Answer, answer: Answer): boolean => {
  const withoutTitles = ({ text }: Answer) => text.replaceAll(/"title":(?:null|"(?:[^"\\]|\\.)*")/g, "")
  return (
    /"is_damaged":true|"damaged_(?:events|calls)":[1-9]/.test(answer.text) ||
    withoutTitles(before) === withoutTitles(answer)
  )
}

const typed = new Set(["event-damaged", "storage-unavailable", "session-too-large", "overloaded"])

const typeOf = ({ text }: Answer): string => {
  try {
    return String((JSON.parse(text) as { readonly type?: unknown }).type)
  } catch {
    return "no JSON"
  }
}

const runRound = async (file: string, expected: Answers, number: number, random: Random.Random, tally: Tally) => {
  tally.count("rounds")
  const { place, text } = damage(file, random)
  const wrong = (what: string) => tally.addWrong(number, `${what}, after ${text} (${place})`)
  let tachograph: Tachograph
  try {
    tachograph = await open(file)
  } catch (error) {
    if ((error as { type?: unknown }).type === "storage-unavailable") tally.count("refused files")
    else wrong(`opening: ${String(error)}`)
    return
  }
  for (const [path, before] of expected) {
    const answer = await ask(tachograph, path)
    tally.count("reads")
    if (ofAnswer(answer) === ofAnswer(before)) tally.count("as before")
    else if (answer.status === 0 || (answer.status >= 500 && typed.has(typeOf(answer)))) tally.count("typed errors")
    else if ([401, 404].includes(answer.status)) tally.count("not found")
    else if (answer.status === 200 && isMarked(before, answer)) tally.count("marked as damaged")
    else if (answer.status === 200) {
      tally.count("other answers")
      tally.count(`other answer: ${place}: ${kindOf(path)}`)
    } else wrong(`${answer.status} ${answer.text.slice(0, 100)} for ${kindOf(path)}`)
  }
  await tachograph.close()
}

export const run = async (store: DamageStore, { from, progress, rounds, seed }: Options): Promise<Tally> => {
  const tally = new Tally()
  const file = store.file!
  const plan = DamagePlan.planOf(seed, 0)
  await store.clear()
  const fill = Effect.gen(function* () {
    const known = yield* DamagePlan.fill(plan)
    yield* derive(yield* Storage, plan.conversations[0]!.project, Throttle.unthrottled)
    return known
  })
  const known = await Effect.runPromise(Effect.provide(fill, Layer.merge(store.storage, Logger.layer([]))))
  const healthy = await open(file)
  const expected = new Map<string, Answer>()
  for (const path of await pathsOf(healthy, plan, known)) expected.set(path, await ask(healthy, path))
  await healthy.close()
  for (const [path, { status, text }] of expected) {
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  }
  await store.keep()
  for (let number = from; number < from + rounds; number++) {
    progress(number, tally)
    await store.restore()
    await runRound(file, expected, number, Random.of(seed, "answers", number), tally)
  }
  return tally
}
