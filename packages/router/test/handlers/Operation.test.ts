import { ValidationFailure } from "@tachograph/api"
import { AgentVersion, AgentVersionName, CurrentProject, defaultProject, Errors, ProjectId } from "@tachograph/core"
import { Cause, DateTime, Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import type { Exchange } from "../../src/Engine.ts"
import * as Operation from "../../src/handlers/Operation.ts"
import * as Answer from "../../src/response/Answer.ts"

type Operations = ReturnType<typeof Operation.group>

const run = (operations: Operations, endpoint: string, fields: Partial<Exchange>) => {
  const exchange: Exchange = {
    requestId: "id",
    endpoint,
    params: {},
    query: "",
    headers: {},
    project: defaultProject,
    scopes: [],
    actor: "nobody",
    body: new Uint8Array(),
    isBodyOwned: false,
    maxEventBytes: 0,
    maxOtherBytes: 0,
    maxBatchBytes: 0,
    maxBatchLines: 0,
    isStrict: false,
    arrivedAtMs: 0,
    ...fields
  }
  return Effect.runPromiseExit(new Map(operations).get(endpoint)!(exchange))
}

const failureOf = (exit: Exit.Exit<unknown, unknown>) => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined)

const locationsOf = (exit: Exit.Exit<unknown, unknown>) => {
  const failure = failureOf(exit)
  expect(failure).toBeInstanceOf(ValidationFailure)
  return (failure as ValidationFailure).detail.map(({ loc }) => loc.join("."))
}

const version = (description: string | null) =>
  new AgentVersion({
    name: AgentVersionName.make("v"),
    description,
    number: 1,
    createdAt: DateTime.makeUnsafe(0),
    deprecatedAt: null
  })

const versions = (createAgentVersion: Operation.Handlers<"agentVersions">["createAgentVersion"]) =>
  Operation.group("agentVersions", {
    createAgentVersion,
    getAgentVersion: () => Effect.die("planted"),
    listAgentVersions: () => Effect.die("planted"),
    listConfigurations: () => Effect.die("planted"),
    deprecateAgentVersion: () => Effect.die("planted")
  })

const body = Buffer.from('{ "agent_version_name": "v", "description": "d" }')
const params = { agent_name: "a" }

describe("Operation.group", () => {
  it("reads each parameter of a query once, however many there are", async () => {
    const operations = versions(() => Effect.die("planted"))
    const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`).join("&")
    const read = { params: { ...params, agent_version_name: "v" }, query: names(200_000) }
    expect(failureOf(await run(operations, "getAgentVersion", read))).toBe("planted")
    const listed = (query: string) => run(operations, "listAgentVersions", { params, query })
    expect(locationsOf(await listed("limit=1&limit=2"))).toEqual(["query.limit"])
    expect(locationsOf(await listed(names(20_000)))).toHaveLength(1_000)
  })

  it("decodes the path and the body, and encodes the result", async () => {
    const operations = versions(({ params, payload, text }) => {
      expect([params.agent_name, payload.agent_version_name, text]).toEqual(["a", "v", String(body)])
      return Effect.succeed(version(payload.description ?? null))
    })
    const created = {
      agent_version_name: "v",
      description: "d",
      agent_version_number: 1,
      created_at: "1970-01-01T00:00:00.000Z",
      deprecated_at: null
    }
    const exit = await run(operations, "createAgentVersion", { params, body })
    expect(exit).toMatchObject({ value: { status: 200, headers: { "content-type": "application/json" } } })
    expect(Exit.isSuccess(exit) && JSON.parse(String(exit.value.body))).toEqual(created)
  })

  it("reports all errors of the path and the body together, and does not call the handler", async () => {
    const operations = versions(() => Effect.die("called"))
    const wrong = { params: { agent_name: "x".repeat(256) }, body: Buffer.from('{"description":1}') }
    expect(locationsOf(await run(operations, "createAgentVersion", wrong))).toEqual([
      "path.agent_name",
      "body.agent_version_name",
      "body.description"
    ])
  })

  it("reports the errors of the path with a body that is not JSON", async () => {
    const operations = versions(() => Effect.die("called"))
    const wrong = { params: { agent_name: "" }, body: Buffer.from("{") }
    expect(locationsOf(await run(operations, "createAgentVersion", wrong))).toEqual(["path.agent_name", "body.1"])
  })

  it("throws for an endpoint with headers whose handler does not read them", () => {
    const handlers = {
      createEvent: () => Effect.never,
      createEvents: () => Effect.never,
      getEvent: () => Effect.never,
      getEventMessages: () => Effect.never,
      getEventInputs: () => Effect.never,
      getEventOutput: () => Effect.never,
      eraseEvent: () => Effect.never,
      listEvents: () => Effect.never,
      streamEvents: () => Effect.never
    }
    expect(() => Operation.group("events", handlers)).toThrow("createEvent has headers")
  })

  it("reports all errors of the query", async () => {
    const operations = Operation.group("events", {
      createEvent: new Operation.Raw(() => Effect.die("planted")),
      createEvents: () => Effect.die("planted"),
      getEvent: () => Effect.die("planted"),
      getEventMessages: () => Effect.die("planted"),
      getEventInputs: () => Effect.die("planted"),
      getEventOutput: () => Effect.die("planted"),
      eraseEvent: () => Effect.die("planted"),
      listEvents: () => Effect.die("called"),
      streamEvents: () => Effect.die("planted")
    })
    const query = "unknown=x&__proto__=x&limit=0&order=up&session=a&session=b"
    expect(locationsOf(await run(operations, "listEvents", { query }))).toEqual([
      "query.session",
      "query.limit",
      "query.order",
      "query.unknown",
      "query.__proto__"
    ])
  })

  it("decodes the query", async () => {
    const operations = Operation.group("storage", {
      readStorage: ({ query }) => Effect.succeed(new Operation.Encoded(Answer.json(JSON.stringify(query))))
    })
    expect(await run(operations, "readStorage", { query: "sessions=%35" })).toMatchObject({
      value: { body: '{"sessions":5}' }
    })
    expect(await run(operations, "readStorage", {})).toMatchObject({ value: { body: "{}" } })
  })

  it("runs the handler in the project of the exchange", async () => {
    const operations = versions(() => Effect.map(CurrentProject, version))
    const exit = await run(operations, "createAgentVersion", { params, body, project: ProjectId.make("acme") })
    expect(Exit.isSuccess(exit) && JSON.parse(String(exit.value.body)).description).toBe("acme")
  })

  it("fails with the error of the handler", async () => {
    const operations = versions(() => Effect.fail(new Errors.AgentNotFound()))
    const failure = failureOf(await run(operations, "createAgentVersion", { params, body }))
    expect(failure).toBeInstanceOf(Errors.AgentNotFound)
  })

  it("dies if the result does not fit the contract", async () => {
    const operations = versions(() => Effect.succeed({ name: 1 } as never))
    const exit = await run(operations, "createAgentVersion", { params, body })
    expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
  })

  it("passes the exchange to a raw handler", async () => {
    const answer = Answer.empty()
    const operations = versions(
      new Operation.Raw(({ requestId }) => Effect.succeed({ ...answer, headers: { requestId } }))
    )
    expect(await run(operations, "createAgentVersion", {})).toMatchObject({ value: { headers: { requestId: "id" } } })
  })
})
