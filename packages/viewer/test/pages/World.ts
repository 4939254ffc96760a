/** What the tests of the pages look at: a server with some conversations, and a browser that has its key. */
import { createHash } from "node:crypto"
import type { BrowserContextOptions, Page, ViewportSize } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { type AtEnd, openWithKey, useBrowser } from "../Browser.ts"
import { Conversation, recordRun, registered, text, user } from "../Conversation.ts"
import { apiKey, type Server, start } from "../Server.ts"
import { recordTraced } from "../Spans.ts"
import { Visitor } from "../Visitor.ts"

export class World {
  server!: Server
  /** The ids of the calls of `session`. */
  ids!: ReadonlyArray<string>
  fingerprintId!: string
  otherFingerprintId!: string
  /** The SHA-256 of a text that calls share. */
  sharedText!: string
  readonly session = "run / ü"
  readonly sessionPlace = `#/sessions/${encodeURIComponent(this.session)}`

  readonly #visitor = new Visitor(() => this.server)

  /** Goes to a place as a person who has been at others. */
  visit(place: string, size?: ViewportSize) {
    return this.#visitor.visit(place, size)
  }

  /** Loads the pages at a place, for a test that changes more than it can undo. */
  arrive(place: string, options: BrowserContextOptions = {}, atEnd?: AtEnd) {
    return openWithKey(`${this.server.url}/viewer/${place}`, apiKey, options, atEnd)
  }
}

const record = async (world: World): Promise<void> => {
  const { client } = (world.server = await start())
  const fingerprintId = (world.fingerprintId = await registered(client))
  world.otherFingerprintId = await registered(client, { "left-pad": "1.3.0", effect: "4.1.0" })
  const fields = { agent: "keeper", agent_version: "1.4", person: "ada" }
  world.ids = await recordRun(new Conversation(client, fingerprintId, world.session, fields))
  const next = new Conversation(client, fingerprintId, "the next version", { ...fields, agent_version: "1.5" })
  next.system = "You are a bold agent."
  await next.call([user("Who are you?")], [text("A bold agent.")])
  // Long enough to be shared.
  const prompt = "Be careful. ".repeat(400)
  world.sharedText = createHash("sha256").update(JSON.stringify(prompt)).digest("hex")
  const sharing = new Conversation(client, fingerprintId, "a long prompt", { agent: "sharer" })
  sharing.system = prompt
  await sharing.call([user("Are you careful?")], [text("I am.")])
  const copied = new Conversation(client, world.otherFingerprintId, "the same prompt", { agent: "copyist" })
  await copied.call([user("Copy")], [text("Copied")])
  await recordTraced(client, "traced")
  await client.put("/api/v1/people/ada", { properties: { team: "lighthouse" } })
  for (let number = 1; number <= 20; number++) {
    const other = new Conversation(client, fingerprintId, `other ${number}`)
    await other.call([user(`Question ${number}`)], [text(`Answer ${number}`)])
  }
}

/** For the tests of a file. */
export const useWorld = (): World => {
  useBrowser()
  const world = new World()
  beforeAll(() => record(world))
  afterAll(() => world.server.close())
  return world
}

export const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name })
