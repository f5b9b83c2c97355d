-- A counter is updated at every request: with room on its page the new version stays there, and no index is touched.
ALTER TABLE "rate_windows" SET (fillfactor = 50);
