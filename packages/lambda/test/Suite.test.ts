import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { expect } from "vitest"
import { createHandler } from "../src/index.ts"
import { type Kind, overLambda } from "./Events.ts"

/** HTTP APIs decode the path before the function sees it, which loses an encoded `/` or `?`. Other names are preserved. */
const httpApi: HttpSuite.Exceptions = {
  "accepts any name in the body and in the path": {
    why: "HTTP APIs lose the slash and the question mark of a name",
    instead: async ({ client }) => {
      const path = "/api/v1/agents"
      const create = (agent_name: string) => client.put(path, { agent_name })
      const get = (name: string) => client.get(`${path}/${encodeURIComponent(name)}`)
      for (const name of ["x".repeat(255), "😀".repeat(255), " a ", "é", "e\u0301", "b;c#e%25+&=%", "\n", "null"]) {
        await create(name)
        expect(Object.values((await get(name)).body)).toContain(name)
      }
      await create("lost/slash")
      expect((await get("lost/slash")).body).toEqual({ type: "not-found" })
      await create("lost")
      expect(Object.values((await get("lost?mark")).body)).toContain("lost")
    }
  }
}

/** The result of a function is one value. */
const collected: HttpSuite.Exceptions = {
  "streams lines with cursors, to go on with over another connection": {
    why: "a stream ends with the first events",
    instead: async ({ client, fingerprintId }) => {
      const path = "/api/v1/events/stream"
      const { next_cursor: cursor } = (await client.get(`${path}?wait=0`)).body
      const { body } = await client.post("/api/v1/events", {
        ...{ event_name: "llm", fingerprint_id: fingerprintId, session: "lambda" },
        properties: { api: "aisdk", inputs: {}, output: {} }
      })
      const { headers, text } = await client.get(`${path}?cursor=${cursor}`)
      expect(JSON.parse(text)).toMatchObject({ event_id: body.event_id })
      expect(headers.get("tachograph-cursor")).toBe(cursor)
    }
  },
  "ends a stream whose key another process has revoked": {
    why: "a stream ends with the first events, and asks for its key again",
    instead: async ({ as, issue, revoke }) => {
      const { id, key } = await issue({ scopes: ["read"] })
      await revoke(id)
      expect((await as(key).get("/api/v1/events/stream")).status).toBe(401)
    }
  }
}

const transports: Readonly<Record<Exclude<Kind, "http-1">, HttpSuite.Exceptions>> = {
  rest: collected,
  http: { ...httpApi, ...collected },
  url: collected,
  alb: collected,
  "alb-multi": collected
}

for (const [kind, exceptions] of Object.entries(transports) as Array<[Kind, HttpSuite.Exceptions]>) {
  HttpSuite.run(`AWS Lambda, ${kind}`, {
    storage: () => MemoryStorage.layer,
    serve: async (storage, limits) => {
      const handler = createHandler({ storage, ...limits })
      return { fetch: overLambda(kind, handler), close: handler.close }
    },
    exceptions,
    tag: "adapter"
  })
}
