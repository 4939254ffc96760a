import { MemoryStorage } from "@tachograph/core"
import { HttpClient, HttpSuite } from "@tachograph/testkit"
import fastify from "fastify"
import { createTachograph } from "../src/index.ts"
import { expectHostResponse, hostNotFound } from "./OverServer.ts"

const serve: HttpSuite.HttpSuiteOptions["serve"] = async (storage, limits) => {
  const tachograph = await createTachograph({ storage, ...limits })
  const app = fastify()
  app.addHook("onRequest", (request, reply, done) => tachograph.node(request.raw, reply.raw, done))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(hostNotFound))
  const url = await app.listen({ host: "127.0.0.1", port: 0 })
  return {
    fetch: HttpClient.at(url),
    url,
    close: async () => {
      await app.close()
      await tachograph.close()
    }
  }
}

HttpSuite.run("Fastify", {
  storage: () => MemoryStorage.layer,
  serve,
  expectUnhandled: expectHostResponse,
  tag: "adapter"
})
