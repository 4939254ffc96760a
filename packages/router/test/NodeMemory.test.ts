import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { overNode } from "./OverNode.ts"

HttpSuite.run("node:http, memory", { storage: () => MemoryStorage.layer, serve: overNode })
