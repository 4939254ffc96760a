import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { createTachograph } from "../src/index.ts"

HttpSuite.run("fetch, memory", {
  storage: () => MemoryStorage.layer,
  serve: (storage) => createTachograph({ storage })
})
