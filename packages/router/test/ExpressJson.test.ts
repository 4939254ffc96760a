import { MemoryStorage } from "@tachograph/core"
import { type HttpClient, HttpSuite, Payloads } from "@tachograph/testkit"
import express from "express"
import type { IncomingMessage } from "node:http"
import { expect } from "vitest"
import { overExpress } from "./OverExpress.ts"
import { expectHostResponse } from "./OverServer.ts"

const options = { storage: () => MemoryStorage.layer, expectUnhandled: expectHostResponse, tag: "adapter" } as const
/** Above the limit of the suite, so that Tachograph applies its own. */
const limit = "2mb"

const expectRejectedByHost = ({ headers, status }: HttpClient.Answer, expected: number) =>
  expect([status, headers.get("x-request-id")]).toEqual([expected, null])

const agents = "/api/v1/agents"
const parserRejects = "express.json rejects bodies that it cannot parse"

/** Requests that do not reach Tachograph. */
const rejectedByHost: HttpSuite.Exceptions = {
  ...Object.fromEntries(
    ["gzip", "deflate", "br", "zstd"].map((encoding) => [
      `rejects a body that is not valid ${encoding}`,
      {
        why: parserRejects,
        instead: async ({ client }) => {
          const headers = { "content-encoding": encoding }
          expectRejectedByHost(await client.call("PUT", agents, `{"agent_name":"x"}`, headers), 400)
        }
      }
    ])
  ),
  "rejects any other encoding": {
    why: parserRejects,
    instead: async ({ client }) => {
      const headers = { "content-encoding": "compress" }
      expectRejectedByHost(await client.call("PUT", agents, `{"agent_name":"x"}`, headers), 415)
    }
  },
  "checks the key before the body": {
    why: parserRejects,
    instead: async ({ as }) => expectRejectedByHost(await as("unknown").post("/api/v1/events", "not even JSON"), 400)
  }
}

const events = "/api/v1/events"
const bytesAreLost = "express.json parses the body, which is then serialised again"
const reserialised = (text: string) => JSON.stringify(JSON.parse(text))

const eventText = (fingerprintId: string, inputs: string) =>
  `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":"s",` +
  `"properties":{"api":"aisdk","inputs":${inputs},"output":{}}}`

const expectReserialised = async ({ client, fingerprintId }: HttpSuite.Fixture, inputs: string) => {
  const { body } = await client.post(events, eventText(fingerprintId, inputs))
  const { text } = await client.get(`${events}/${body.event_id}`)
  expect(text.includes(`"inputs":${reserialised(inputs)},"output":{}}`)).toBe(true)
}

const tooDeep = "10,000 levels"

/** Cases about the bytes that were sent, which the parser does not keep. */
const reserialisedByHost: HttpSuite.Exceptions = {
  ...Object.fromEntries(
    Object.entries(Payloads.awkward).map(([name, text]) => [
      `preserves ${name}`,
      { why: bytesAreLost, instead: (fixture) => expectReserialised(fixture, text) }
    ])
  ),
  [`preserves ${tooDeep}`]: {
    why: "JSON.stringify does not nest this deeply",
    instead: async ({ client, fingerprintId }) => {
      const answer = await client.post(events, eventText(fingerprintId, Payloads.awkward[tooDeep]!))
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body"]])
    }
  },
  "finds the payload anywhere in the body, and uses the last of duplicate keys": {
    why: bytesAreLost,
    instead: (fixture) => expectReserialised(fixture, `{"inputs":{"inputs":1},"inputs":{"x":"},\\"inputs\\":{"}}`)
  },
  "preserves a person's properties": {
    why: bytesAreLost,
    instead: async ({ client }) => {
      await client.put("/api/v1/people", `{"person_id":"reserialised","properties":{ "b":1.0 ,"a":1,"b":2}}`)
      const { text } = await client.get("/api/v1/people/reserialised")
      expect(text).toContain(`"properties":{"b":2,"a":1},`)
    }
  },
  "writes payloads byte for byte, on one line": {
    why: bytesAreLost,
    instead: async ({ client, fingerprintId }) => {
      await client.post(events, eventText(fingerprintId, `{\r\n "exported": [1 ,2]}`))
      const { text } = await client.get("/api/v1/export")
      expect(text).toContain(`"inputs":{"exported":[1,2]},"output":{}`)
    }
  },
  "compares the bytes of the decompressed body": {
    why: bytesAreLost,
    instead: async ({ client, fingerprintId }) => {
      const text = eventText(fingerprintId, "{}")
      const headers = { "idempotency-key": "reserialised" }
      const first = await client.call("POST", events, text, headers)
      const again = await client.call("POST", events, ` ${text} `, headers)
      expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([200, first.text, "true"])
    }
  }
}

const keepBytes = (request: IncomingMessage, _response: unknown, bytes: Buffer) => {
  Object.assign(request, { rawBody: bytes })
}

HttpSuite.run("Express, after express.json that keeps the bytes", {
  ...options,
  exceptions: rejectedByHost,
  serve: overExpress((app, tachograph) => app.use(express.json({ limit, verify: keepBytes }), tachograph.node))
})

HttpSuite.run("Express, after express.json", {
  ...options,
  exceptions: { ...rejectedByHost, ...reserialisedByHost },
  serve: overExpress((app, tachograph) => app.use(express.json({ limit }), tachograph.node))
})
