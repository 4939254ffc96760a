import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { createTachograph } from "../src/index.ts"

const storage = () => MemoryStorage.layer

HttpSuite.run("fetch, memory", {
  storage,
  serve: (storage, { maxBody }) => createTachograph({ storage, maxBody })
})

// The only run with bodies of 32 MiB: the others set a smaller limit.
HttpSuite.run("fetch, memory, default body limit", {
  storage,
  tag: "body-limit",
  maxBody: 32 * 1024 * 1024,
  serve: (storage) => createTachograph({ storage })
})
