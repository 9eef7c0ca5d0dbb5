import { NoReportError } from "./errors.js";

const DATABASE = "bipartite-report";
const STORE = "kept";

/** A report that was drawn: the text that is sent, and what it spent. Of the value nothing is stored but the report. */
export interface Drawn {
  readonly study: string;
  readonly question: string;
  readonly spec: string;
  readonly epsilon: string;
  readonly body: string;
}

/** A person's no, to one question or, without it, to a whole study. */
export interface No {
  readonly study: string;
  readonly question?: string;
}

export type Entry = Drawn | No;

export const isDrawn = (entry: Entry | undefined): entry is Drawn => entry !== undefined && Object.hasOwn(entry, "body");

/** Where an entry is kept: `[study, question]`, or `[study]` for a no to all of it. */
export const keyOf = (no: No): string[] => (Object.hasOwn(no, "question") && no.question !== undefined ? [no.study, no.question] : [no.study]);

/** The entry of a place among those of its study. */
export const at = (place: No, all: readonly Entry[]): Entry | undefined => all.find((entry) => keyOf(entry)[1] === keyOf(place)[1]);

/** What follows from the entries of a study: what is given once it is stored, and a new entry or one to forget. */
export type Decision<T> = readonly [result: T, keep?: Entry | undefined, forget?: No | undefined];

/**
 * Read the entry of a place and all others of its study, decide at once, write: in one transaction. Browsers run those
 * that write one after another over all tabs of an origin, and all or nothing of each; so of two tabs that find nothing at
 * the same time the second finds what the first has kept. The result is given after the browser says that all is stored
 * ("strict": on the disk), or never.
 */
export function decide<T>(place: No, decision: (found: Entry | undefined, all: readonly Entry[]) => Decision<T>): Promise<T> {
  return withStore("readwrite", (store, end) => {
    const request: IDBRequest<Entry[]> = store.getAll(IDBKeyRange.bound([place.study], [place.study, []])); // a list is above all texts
    request.onsuccess = () =>
      end(() => {
        const [result, keep, forget] = decision(at(place, request.result), request.result);
        if (keep) store.add(keep, keyOf(keep));
        if (forget) store.delete(keyOf(forget));
        return result;
      });
  });
}

/** All entries, in the order of their names. */
export function everything(): Promise<Entry[]> {
  return withStore("readonly", (store, end) => {
    const request: IDBRequest<Entry[]> = store.getAll();
    request.onsuccess = () => end(() => request.result);
  });
}

type End<T> = (last: () => T) => void;

/** Web Locks keep a browser from freezing a tab half-way; where there are none, the transaction decides alone. */
async function withStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore, end: End<T>) => void): Promise<T> {
  const run = async (): Promise<T> => {
    const database = await open();
    try {
      return await transaction(database, mode, work);
    } finally {
      database.close();
    }
  };
  try {
    const locks = globalThis.navigator?.locks;
    return await (locks ? locks.request(DATABASE, run) : run());
  } catch (error) {
    throw error instanceof DOMException ? storageError(error) : error;
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (!globalThis.indexedDB) throw storageError();
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function transaction<T>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore, end: End<T>) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const running = database.transaction(STORE, mode, { durability: "strict" });
    let give: () => void;
    let failure: unknown;
    running.oncomplete = () => give();
    running.onabort = () => reject(failure ?? running.error ?? new DOMException("", "AbortError"));
    work(running.objectStore(STORE), (last) => {
      try {
        const result = last();
        give = () => resolve(result);
      } catch (error) {
        failure = error;
        running.abort();
      }
    });
  });
}

function storageError(cause?: DOMException): NoReportError {
  const why = cause?.name ?? "it has no IndexedDB";
  const message = `nothing can be kept in this browser (${why}), so no report is handed out: it would be drawn again`;
  return new NoReportError("storage", message, { cause });
}
