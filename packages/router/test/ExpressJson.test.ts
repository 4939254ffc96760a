import { MemoryStorage } from "@tachograph/core"
import { type HttpClient, HttpSuite, Payloads } from "@tachograph/testkit"
import express from "express"
import type { IncomingMessage } from "node:http"
import { expect } from "vitest"
import { overExpress } from "./OverExpress.ts"
import { expectHostsOwn } from "./OverServer.ts"

const options = { storage: () => MemoryStorage.layer, expectNotOurs: expectHostsOwn }
const limit = "64mb"

const expectRefusedByHost = ({ headers, status }: HttpClient.Answer, expected: number) =>
  expect([status, headers.get("x-request-id")]).toEqual([expected, null])

const agents = "/api/v1/agents"
const parserRefuses = "express.json answers itself to what it cannot parse"

/** What never reaches us. */
const refusedByHost: HttpSuite.Exceptions = {
  ...Object.fromEntries(
    ["gzip", "deflate", "br", "zstd"].map((encoding) => [
      `are refused where they are no ${encoding}`,
      {
        why: parserRefuses,
        instead: async ({ client }) => {
          const headers = { "content-encoding": encoding }
          expectRefusedByHost(await client.call("PUT", agents, `{"agent_name":"x"}`, headers), 400)
        }
      }
    ])
  ),
  "may be encoded in no other way": {
    why: parserRefuses,
    instead: async ({ client }) => {
      const headers = { "content-encoding": "compress" }
      expectRefusedByHost(await client.call("PUT", agents, `{"agent_name":"x"}`, headers), 415)
    }
  },
  "checks the key before the body": {
    why: parserRefuses,
    instead: async ({ as }) => expectRefusedByHost(await as("nobody").post("/api/v1/events", "not even JSON"), 400)
  }
}

const events = "/api/v1/events"
const bytesAreLost = "what express.json has parsed is written anew"
const writtenAnew = (text: string) => JSON.stringify(JSON.parse(text))

const eventText = (fingerprintId: string, inputs: string) =>
  `{"event_name":"llm","fingerprint_id":"${fingerprintId}","session":"s",` +
  `"properties":{"api":"aisdk","inputs":${inputs},"output":{}}}`

const expectWrittenAnew = async ({ client, fingerprintId }: HttpSuite.Subject, inputs: string) => {
  const { body } = await client.post(events, eventText(fingerprintId, inputs))
  const { text } = await client.get(`${events}/${body.event_id}`)
  expect(text.includes(`"inputs":${writtenAnew(inputs)},"output":{}}`)).toBe(true)
}

const tooDeep = "10,000 levels"

/** What holds of the bytes that were sent, and so cannot hold where they were not kept. */
const writtenByHost: HttpSuite.Exceptions = {
  ...Object.fromEntries(
    Object.entries(Payloads.hurtful).map(([name, text]) => [
      `keeps ${name}`,
      { why: bytesAreLost, instead: (subject) => expectWrittenAnew(subject, text) }
    ])
  ),
  [`keeps ${tooDeep}`]: {
    why: "JSON.stringify does not go so deep",
    instead: async ({ client, fingerprintId }) => {
      const answer = await client.post(events, eventText(fingerprintId, Payloads.hurtful[tooDeep]!))
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body"]])
    }
  },
  "keeps any JSON object, however it is written": {
    why: bytesAreLost,
    instead: (subject) => expectWrittenAnew(subject, `{ "b" : [1.0] , "a":1e2,"b":"\\u00e9\\ud800" }`)
  },
  "finds the payload wherever it stands in the body, the last of duplicates": {
    why: bytesAreLost,
    instead: (subject) => expectWrittenAnew(subject, `{"inputs":{"inputs":1},"inputs":{"x":"},\\"inputs\\":{"}}`)
  },
  "keeps a person's properties": {
    why: bytesAreLost,
    instead: async ({ client }) => {
      await client.put("/api/v1/people", `{"person_id":"written anew","properties":{ "b":1.0 ,"a":1,"b":2}}`)
      const { text } = await client.get("/api/v1/people/written%20anew")
      expect(text).toContain(`"properties":{"b":2,"a":1},`)
    }
  },
  "is about the bytes of the body as they are when decompressed": {
    why: bytesAreLost,
    instead: async ({ client, fingerprintId }) => {
      const text = eventText(fingerprintId, "{}")
      const headers = { "idempotency-key": "written anew" }
      const first = await client.call("POST", events, text, headers)
      const again = await client.call("POST", events, ` ${text} `, headers)
      expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([200, first.text, "true"])
    }
  }
}

const keepBytes = (request: IncomingMessage, _response: unknown, bytes: Buffer) => {
  Object.assign(request, { rawBody: bytes })
}

HttpSuite.run("Express, behind express.json that keeps the bytes", {
  ...options,
  exceptions: refusedByHost,
  serve: overExpress((app, tachograph) => app.use(express.json({ limit, verify: keepBytes }), tachograph.node))
})

HttpSuite.run("Express, behind express.json", {
  ...options,
  exceptions: { ...refusedByHost, ...writtenByHost },
  serve: overExpress((app, tachograph) => app.use(express.json({ limit }), tachograph.node))
})
