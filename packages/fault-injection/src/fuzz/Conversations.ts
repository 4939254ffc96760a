/**
 * `conversations`: agents record random conversations into servers that are stopped, killed and started again, while sessions
 * and people are erased. Every acknowledged event is compared with what was sent.
 */
import { setTimeout as wait } from "node:timers/promises"
import * as Http from "../harness/Http.ts"
import * as Ledger from "../harness/Ledger.ts"
import * as Load from "../harness/Load.ts"
import * as Random from "../harness/Random.ts"
import * as Server from "../harness/Server.ts"
import * as Book from "./Book.ts"
import { type Call, Conversation, Pool } from "./Conversation.ts"
import { Tally } from "./Tally.ts"

export interface Options {
  readonly seed: number
  readonly events: number
  readonly command: string
  /** The value of `TACHOGRAPH_STORAGE`. */
  readonly storage: string
  /** Whether the store outlives its server. */
  readonly isLasting: boolean
  readonly progress: (tally: Tally) => void
}

/** The counts that the table has. */
export const counted = ["events", "unknown", "replays", "reads", "erasures", "erased events", "kills", "restarts"]

const key = "a key for the fuzzer"
const agents = 8
/** Acknowledged events between two starts of servers: at least, and at most. */
const legEvents = [150, 900] as const
/** Bounds of the cache of sessions (bytes). */
const sessionMemories = [0, 0, 2_000, 100_000, 1024 * 1024, 64 * 1024 * 1024]
/** How long a client waits before it tries a refused event again (ms). */
const pauseMs = 20

/** An agent's work on one session. */
interface Task {
  readonly session: string
  readonly person: string
  readonly conversation: Conversation
  readonly label: string
  callsLeft: number
  calls: number
}

/** An event with a key, whose connection broke. */
interface Pending {
  readonly call: Call
  readonly what: Book.Sent
  readonly key: string
}

interface Client {
  readonly server: Server.Server
  readonly http: Http.Http
  readonly reader: Book.Reader
  isKilled: boolean
}

export class Conversations {
  readonly #options: Options
  readonly tally = new Tally()
  readonly book = new Book.Book()
  readonly #pool = new Pool()
  readonly #random: Random.Random
  readonly #tasks: Array<Task | undefined> = Array.from({ length: agents })
  readonly #pending: Array<Pending> = []
  /** Sessions that no agent uses any more. */
  readonly #finished: Array<string> = []
  /** Sessions whose erasure was not answered. */
  readonly #toErase: Array<string> = []
  readonly #people: Array<string>
  #fingerprintId = ""
  #begun = 0
  #leg = 0
  /** All servers were killed, so that the next one is asked for what was acknowledged last. */
  #isRecentUnchecked = false

  constructor(options: Options) {
    this.#options = options
    this.#random = Random.of(options.seed, "conversations")
    this.#people = Array.from({ length: 5 }, (_, n) => this.#nameOf("person", n))
  }

  #nameOf(kind: string, n: number): string {
    return `${kind}-${n}-${Random.text(12, this.#options.seed, kind, n)}`
  }

  #wrong(text: string): void {
    this.tally.addWrong(this.#leg, text)
  }

  /** Between two starts of servers. */
  async leg(): Promise<void> {
    const random = this.#random
    this.#leg++
    const count = this.#options.isLasting && random(0, 2) === 0 ? 2 : 1
    const clients: Array<Client> = []
    for (let n = 0; n < count; n++) clients.push(await this.#start())
    this.#fingerprintId ||= await Load.fingerprint(clients[0]!.http)
    if (this.#isRecentUnchecked) await this.#checkRecent(clients[0]!)
    await this.#settle(clients[0]!)

    const left = this.#options.events - this.tally.of("events")
    const quota = Math.min(left, this.#options.isLasting ? random(...legEvents) : left)
    const end = this.tally.of("events") + quota
    const isKilled = this.#options.isLasting && random(0, 1) === 0
    const killAt = isKilled ? end - random(0, quota >> 1) : Number.POSITIVE_INFINITY
    await Promise.all(this.#tasks.map((_, agent) => this.#agent(agent, clients, end, killAt)))

    const alive = clients.find((client) => !client.isKilled)
    if (alive !== undefined) await this.#checkRecent(alive)
    this.#isRecentUnchecked = alive === undefined
    for (const client of clients) {
      client.reader.close()
      client.http.close()
      if (client.isKilled || !this.#options.isLasting) continue
      this.tally.count("restarts")
      const { code } = await client.server.stop()
      if (code !== 0) this.#wrong(`a server exited with ${code}: ${client.server.log().slice(-500)}`)
    }
    if (!this.#options.isLasting) {
      await this.#checkAll(clients[0]!.server)
      await clients[0]!.server.kill()
    }
  }

  async #start(): Promise<Client> {
    const memory = sessionMemories[this.#random(0, sessionMemories.length - 1)]!
    const server = await Server.start({
      command: this.#options.command,
      storage: this.#options.storage,
      key,
      env: { TACHOGRAPH_SESSION_MEMORY: String(memory), TACHOGRAPH_LOG_LEVEL: "error" }
    })
    return { server, http: Http.open(server.url, key), reader: Ledger.readerOf(server), isKilled: false }
  }

  /** Repeats what was not answered. */
  async #repeat(client: Client): Promise<void> {
    for (const pending of this.#pending.splice(0)) await this.#record(client, pending.call, pending.what, pending.key)
    for (const session of this.#toErase.splice(0)) await this.#eraseSession(client, session)
  }

  /** Repeats what was not answered, and at times erases a person. */
  async #settle(client: Client): Promise<void> {
    await this.#repeat(client)
    if (this.#leg === 1 || this.#random(0, 2) > 0) return
    const at = this.#random(0, this.#people.length - 1)
    const person = this.#people[at]!
    this.#people[at] = this.#nameOf("person", agents + this.#leg)
    for (const [agent, task] of this.#tasks.entries()) {
      if (task?.person === person) this.#tasks[agent] = { ...task, person: this.#people[at]! }
    }
    const erased = this.book.erase({ person })
    const { status, text } = await client.http.call("DELETE", `/api/v1/people/${person}`)
    if (status !== 200 && status !== 404) return this.#wrong(`${person} is not erased: ${status} ${text}`)
    if (status === 404 && erased.length > 0) this.#wrong(`${person} is not found`)
    return this.#checkErased(client, erased)
  }

  async #checkErased(client: Client, erased: ReturnType<Book.Book["erase"]>): Promise<void> {
    this.tally.count("erasures")
    this.tally.count("erased events", erased.length)
    for (const entry of erased.filter((_, n) => n % 16 === 0)) {
      const problem = await this.book.checkErased(client.reader, entry)
      if (problem !== undefined) this.#wrong(problem)
    }
  }

  async #agent(agent: number, clients: ReadonlyArray<Client>, end: number, killAt: number): Promise<void> {
    const random = this.#random
    // A server that loses events may refuse all that follow.
    while (this.tally.of("events") < end && this.tally.wrongs === 0) {
      const alive = clients.filter(({ isKilled }) => !isKilled)
      if (alive.length === 0) return
      const client = alive[random(0, alive.length - 1)]!
      const task = (this.#tasks[agent] ??= this.#begin())
      const call = task.conversation.next()
      const label = `${task.label}, call ${++task.calls}`
      const what = Book.sent(call, { session: task.session, person: task.person, label })
      const eventKey = random(1, 100) <= 15 ? `${this.#options.seed} ${label}` : undefined
      try {
        await this.#record(client, call, what, eventKey)
        if (eventKey !== undefined && random(0, 1) === 0) await this.#record(client, call, what, eventKey)
        if (random(0, 3) === 0) await this.#readEarlier(client)
        if (--task.callsLeft <= 0) this.#finish(agent, task)
        if (random(1, 150) === 1) await this.#eraseFinished(client)
      } catch (error) {
        // Reads and erasures break off, too.
        // A server closes a connection that was idle, at times just when it is used again.
        if ((error as NodeJS.ErrnoException).code === "ECONNRESET") this.tally.count("reset connections")
        else if (!client.isKilled) this.#wrong(`${label}: ${String(error)}`)
        this.#tasks[agent] = undefined
      }
      if (this.tally.of("events") < killAt || client.isKilled || clients.some(({ isKilled }) => isKilled)) continue
      client.isKilled = true
      this.tally.count("kills")
      await client.server.kill()
    }
  }

  #begin(): Task {
    const random = this.#random
    const number = ++this.#begun
    const others = this.#tasks.flatMap((task) => (task === undefined ? [] : [task.session]))
    const session =
      others.length > 0 && random(0, 2) === 0 ? others[random(0, others.length - 1)]! : this.#nameOf("session", number)
    return {
      session,
      person: this.#people[random(0, this.#people.length - 1)]!,
      // Its texts do not depend on the order in which servers answer.
      conversation: new Conversation(Random.of(this.#options.seed, "conversation", number), this.#pool),
      label: `conversation ${number} in ${session}`,
      callsLeft: random(0, 9) === 0 ? random(100, 400) : random(1, 40),
      calls: 0
    }
  }

  #finish(agent: number, { session }: Task): void {
    this.#tasks[agent] = undefined
    if (!this.#tasks.some((task) => task?.session === session)) this.#finished.push(session)
  }

  /** Until it is answered, or the connection breaks. */
  async #record(client: Client, call: Call, what: Book.Sent, eventKey: string | undefined): Promise<void> {
    const body = Book.bodyOf(call, what, this.#fingerprintId)
    const headers = eventKey === undefined ? {} : { "idempotency-key": eventKey }
    for (;;) {
      let answer: Awaited<ReturnType<Http.Http["call"]>>
      try {
        answer = await client.http.call("POST", "/api/v1/events", body, headers)
      } catch (error) {
        this.tally.count("unknown")
        if (eventKey === undefined) this.book.addUnknown(what)
        else this.#pending.push({ call, what, key: eventKey })
        throw error
      }
      if (answer.status === 503) {
        this.tally.count("refused")
        // The commit may have succeeded.
        if (!answer.text.includes("overloaded") && eventKey === undefined) this.book.addUnknown(what)
        await wait(pauseMs)
        continue
      }
      if (answer.status !== 200)
        return this.#wrong(`${what.label} is answered with ${answer.status} ${answer.text.slice(0, 300)}`)
      const id = JSON.parse(answer.text).event_id as string
      const isReplay = answer.headers["idempotent-replayed"] === "true"
      if (isReplay) this.tally.count("replays")
      if (this.book.has(id)) {
        if (!isReplay) this.#wrong(`${what.label} has the id of another event`)
        return undefined
      }
      this.book.add(id, what)
      this.tally.count("events")
      this.#options.progress(this.tally)
      return undefined
    }
  }

  async #readEarlier(client: Client): Promise<void> {
    const newest = this.#random(0, 3) === 0 ? this.tally.of("events") : 50
    const entry = this.book.recent(this.#random(1, newest))
    if (entry !== undefined) await this.#check(client.reader, entry)
  }

  async #check(reader: Book.Reader, entry: NonNullable<ReturnType<Book.Book["recent"]>>): Promise<void> {
    const problem = await this.book.checkEntry(reader, entry)
    this.tally.count("reads")
    // It may have been erased meanwhile.
    if (problem !== undefined && this.book.has(entry.id)) this.#wrong(problem)
  }

  async #eraseFinished(client: Client): Promise<void> {
    const [session] = this.#finished.splice(this.#random(0, Math.max(0, this.#finished.length - 1)), 1)
    if (session !== undefined) await this.#eraseSession(client, session)
  }

  async #eraseSession(client: Client, session: string): Promise<void> {
    // An event that was not answered would be recorded again.
    if (this.#pending.some(({ what }) => what.session === session)) return void this.#finished.push(session)
    const erased = this.book.erase({ session })
    let status: number
    let text: string
    try {
      ;({ status, text } = await client.http.call("DELETE", `/api/v1/sessions/${session}`))
    } catch (error) {
      this.#toErase.push(session)
      throw error
    }
    if (status !== 200 && status !== 404) return this.#wrong(`${session} is not erased: ${status} ${text}`)
    return this.#checkErased(client, erased)
  }

  async #checkRecent(client: Client): Promise<void> {
    for (let n = 1; n <= 40; n++) {
      const entry = this.book.recent(n)
      if (entry !== undefined) await this.#check(client.reader, entry)
    }
  }

  async #checkAll(server: Server.Server): Promise<void> {
    const reader = Ledger.readerOf(server)
    const client: Client = { server, http: Http.open(server.url, key), reader, isKilled: false }
    await this.#repeat(client)
    const sessions = this.book.sessions[Symbol.iterator]()
    const check = async () => {
      for (const session of sessions) {
        for (const problem of await this.book.checkSession(reader, session)) this.#wrong(problem)
      }
    }
    await Promise.all(Array.from({ length: agents }, check))
    for (const entry of this.book.erased) {
      const problem = await this.book.checkErased(reader, entry)
      if (problem !== undefined) this.#wrong(problem)
    }
    this.tally.count("reads", this.book.size + this.book.erased.length)
    client.http.close()
    reader.close()
  }

  /** Compares everything, on a server that knows nothing yet. */
  async finish(): Promise<void> {
    if (!this.#options.isLasting) return
    const server = await Server.start({ command: this.#options.command, storage: this.#options.storage, key })
    await this.#checkAll(server)
    await server.stop()
  }
}
