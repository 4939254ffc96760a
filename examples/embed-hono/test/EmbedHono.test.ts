import { describe } from "vitest"
import * as Embedded from "../../test/Embedded.ts"

describe("Hono", () =>
  Embedded.suite({
    program: new URL("../src/main.ts", import.meta.url),
    base: "/tachograph",
    hello: "Hello from Hono\n",
    none: { status: 404, text: "404 Not Found" }
  }))
