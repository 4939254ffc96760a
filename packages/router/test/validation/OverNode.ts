import type { Storage } from "@tachograph/core"
import type { Layer } from "effect"
import { createTachograph } from "../../src/index.ts"
import { overServer } from "../OverServer.ts"

/** Serves the router with `node:http`. */
export const overNode = async (storage: Layer.Layer<Storage>, apiKeys: ReadonlyArray<string> = []) => {
  const tachograph = await createTachograph({ storage, apiKeys })
  return overServer(tachograph, tachograph.node)
}
