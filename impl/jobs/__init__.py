"""Jobs of the suite: `flights` is the main job, and `numbers` is the small job of fault campaigns."""
