import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { expect } from "vitest"
import { createHandler } from "../src/index.ts"
import { type Kind, overLambda } from "./Events.ts"

type Exceptions = NonNullable<HttpSuite.HttpSuiteOptions["exceptions"]>
type Subject = Parameters<Exceptions[string]["instead"]>[0]

/** An HTTP API decodes paths before it hands them over: what is left of a name is right where nothing was lost. */
const decodes = (path: string, create: (subject: Subject, name: string) => Promise<unknown>) => ({
  why: "HTTP APIs lose the slash and the question mark of a name",
  instead: async (subject: Subject) => {
    const get = (name: string) => subject.client.get(`${path}/${encodeURIComponent(name)}`)
    for (const name of ["x".repeat(255), "😀".repeat(255), " a ", "é", "e\u0301", "b;c#e%25+&=%", "\n", "null"]) {
      await create(subject, name)
      expect(Object.values((await get(name)).body)).toContain(name)
    }
    await create(subject, "lost/slash")
    expect((await get("lost/slash")).body).toEqual({ type: "not-found" })
    await create(subject, "lost")
    expect(Object.values((await get("lost?mark")).body)).toContain("lost")
  }
})

const ofHttpApi: Exceptions = {
  "takes any name, in the body and in the path": decodes("/api/v1/agents", ({ client }, agent_name) =>
    client.put("/api/v1/agents", { agent_name })
  ),
  "takes any id, in the body and in the path": decodes("/api/v1/people", ({ client }, person_id) =>
    client.put("/api/v1/people", { person_id })
  ),
  "takes any name in the path": decodes("/api/v1/people", ({ client }, person_id) =>
    client.put("/api/v1/people", { person_id })
  )
}

const transports: Readonly<Record<Exclude<Kind, "http-1">, Exceptions>> = {
  rest: {},
  http: ofHttpApi,
  url: {},
  alb: {},
  "alb-multi": {}
}

for (const [kind, exceptions] of Object.entries(transports) as Array<[Kind, Exceptions]>) {
  HttpSuite.run(`AWS Lambda, ${kind}`, {
    storage: () => MemoryStorage.layer,
    serve: async (storage) => {
      const handler = createHandler({ storage })
      return { fetch: overLambda(kind, handler), close: handler.close }
    },
    exceptions
  })
}
