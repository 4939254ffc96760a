/** Records what an application asks of model providers: `createRecorder`, and its `fetch`. */
export type { CallContext } from "./context/Context.ts"
export type { Counters, Drop, DropReason } from "./delivery/Counters.ts"
export type { EmbeddedTachograph } from "./delivery/EmbeddedTransport.ts"
export type { Grouping, RecordedEvent } from "./event/Event.ts"
export type { FingerprintFields } from "./fingerprint/Fingerprint.ts"
export type { PackageScope } from "./fingerprint/Packages.ts"
export type { RecorderOptions } from "./Options.ts"
export { createRecorder, type RecordedCall, type Recorder } from "./Recorder.ts"
