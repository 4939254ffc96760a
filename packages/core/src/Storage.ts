/**
 * The port to a database. Each operation is atomic: its changes are complete and durable when its effect succeeds, and none
 * of them is made when it fails. Payloads are opaque bytes here.
 *
 * Projects are isolated from each other. A `Name` is well-formed Unicode without U+0000; a description may contain any
 * string that JSON can represent.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type { ProjectId } from "./domain/Project.ts"
import type { Appending } from "./storage/Appending.ts"
import type { Derived } from "./storage/Derived.ts"
import type { Erasing } from "./storage/Erasing.ts"
import type { Inventory } from "./storage/Inventory.ts"
import type { Keys } from "./storage/Keys.ts"
import type { Nodes } from "./storage/Nodes.ts"
import type { Reading } from "./storage/Reading.ts"
import type { Resources } from "./storage/Resources.ts"
import type { Result } from "./storage/Result.ts"
import type { Steps } from "./storage/Steps.ts"
import type { Waiting } from "./storage/Waiting.ts"

export interface StoragePort extends Appending, Reading, Erasing, Derived, Inventory, Resources, Keys, Steps, Waiting {
  /** What only a storage of several nodes has. */
  readonly nodes?: Nodes | undefined
  /** Acquires or renews a lease until the given time. Returns false while another holder has it. */
  readonly takeLease: (name: string, holder: string, until: DateTime.Utc) => Result<boolean>
  readonly listProjects: Result<ReadonlyArray<ProjectId>>
  /** Succeeds if the storage responds. */
  readonly ping: Result<void>
}

export class Storage extends Context.Service<Storage, StoragePort>()("tachograph/core/Storage") {}
