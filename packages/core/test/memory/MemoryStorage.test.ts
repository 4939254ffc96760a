import { StorageSuite } from "@tachograph/testkit"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"

StorageSuite.run("memory", () => MemoryStorage.layer)
