import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { createTachograph } from "../src/index.ts"

// The only cases with the default limits: the others set smaller ones.
HttpSuite.run("fetch, memory, default body limits", {
  storage: () => MemoryStorage.layer,
  tag: "body-limit",
  maxBody: 32 * 1024 * 1024,
  maxOtherBody: 1024 * 1024,
  serve: (storage) => createTachograph({ storage })
})
