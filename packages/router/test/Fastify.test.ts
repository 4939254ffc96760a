import { MemoryStorage, type Storage } from "@tachograph/core"
import { HttpClient, HttpSuite } from "@tachograph/testkit"
import type { Layer } from "effect"
import fastify from "fastify"
import { createTachograph } from "../src/index.ts"
import { expectHostsOwn, hostsOwn } from "./OverServer.ts"

const serve = async (storage: Layer.Layer<Storage>) => {
  const tachograph = await createTachograph({ storage })
  const app = fastify()
  app.addHook("onRequest", (request, reply, done) => tachograph.node(request.raw, reply.raw, done))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(hostsOwn))
  const url = await app.listen({ host: "127.0.0.1", port: 0 })
  return {
    fetch: HttpClient.at(url),
    close: async () => {
      await app.close()
      await tachograph.close()
    }
  }
}

HttpSuite.run("Fastify", { storage: () => MemoryStorage.layer, serve, expectNotOurs: expectHostsOwn })
